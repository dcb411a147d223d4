//! The end that asked for a region.

use crate::checksum::Sum;
use crate::connection::send::{Outgoing, Part};
use crate::connection::{Connection, Context, Extras, Sequence, Timer, TransferOptions};
use crate::errors::Logged;
use crate::event::{Event, Failure, Outcome};
use crate::layout::{self, Place};
use crate::memory::{Memory, Span};
use crate::slots::{Class, Proof};
use crate::wire::flags::DataChannel;
use crate::wire::{Body, Flags, Function, Header, Op};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// State of a region at the end that asked for it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum ClientState {
    RmrSent,
    Pending,
    Open,
    Cancelling,
    EndSent,
}

/// A region of the other end.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct RegionClient {
    peer_id: u32,
    state: ClientState,
    t_len: u64,
    channel: DataChannel,
    extras: Extras,
    mx: u16,
    place: Place,
    next_put: u64,
    /// Puts without confirmation, and the repetitions of the question.
    puts: BTreeMap<u64, u32>,
    retries: u32,
    end_reason: Option<Failure>,
}

impl RegionClient {
    pub(crate) fn puts(&self) -> Vec<u64> {
        self.puts.keys().copied().collect()
    }

    pub(crate) const fn is_reported(&self) -> bool {
        false
    }
}

/// A Get or FetchOp that waits for its Data.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Wanted {
    region: u32,
    region_peer_id: u32,
    offset: u64,
    span: Span,
    mx: u16,
    place: Place,
    pending: bool,
    retries: u32,
    extras: Extras,
}

/// A Get.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Get {
    wanted: Wanted,
    next_stu: u32,
    received: u64,
    damaged: bool,
    sum: Sum,
}

impl Get {
    pub(crate) const fn mx(&self) -> u16 {
        self.wanted.mx
    }

    pub(crate) const fn place(&self) -> Place {
        self.wanted.place
    }
}

/// A FetchOp.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Fetch {
    wanted: Wanted,
    function: Function,
    sync: u32,
}

impl Fetch {
    pub(crate) const fn mx(&self) -> u16 {
        self.wanted.mx
    }

    pub(crate) const fn place(&self) -> Place {
        self.wanted.place
    }

    pub(crate) const fn region_peer_id(&self) -> u32 {
        self.wanted.region_peer_id
    }

    pub(crate) const fn last_sync(&self) -> u32 {
        self.sync
    }
}

impl Connection {
    /// The upper layer asks for a region of `t_len` octets at the other end.
    pub(crate) fn request_region(
        &mut self,
        config: &crate::config::Config,
        t_len: u64,
        channel: DataChannel,
        extras: Extras,
    ) -> Option<u32> {
        let supported = self.remote.attributes.persistent;
        if !self.is_open() || !supported || t_len == 0 || !config.has_channel(channel.number()) {
            return None;
        }
        let id = self.begin(Sequence::Client(RegionClient {
            peer_id: 0,
            state: ClientState::RmrSent,
            t_len,
            channel,
            extras,
            mx: 0,
            place: Place::default(),
            next_put: 0,
            puts: BTreeMap::new(),
            retries: 0,
            end_reason: None,
        }));
        self.send_rmr(id, false);
        Some(id)
    }

    fn send_rmr(&mut self, id: u32, again: bool) {
        let Some(Sequence::Client(client)) = self.sequences.get(&id) else { return };
        let body =
            Body::RequestMemoryRegion { channel: client.channel.number(), t_len: client.t_len, s_id: id };
        let (extras, guarded) = (client.extras, self.reliable);
        let queued = self.push(Class::Ordinary, body).with_extras(extras).of(id).shown_by(Proof::Id(id));
        queued.again = again;
        queued.arm = guarded.then_some(Timer::Sequence(id));
    }

    /// Memory_Region_Available for the region.
    pub(crate) fn region_granted<M>(&mut self, cx: &mut Context<'_, M>, id: u32, body: &Body) {
        let &Body::MemoryRegionAvailable { mx, bufx, offset, s_id, .. } = body else { return };
        let Some(Sequence::Client(client)) = self.sequences.get_mut(&id) else { return };
        match client.state {
            ClientState::RmrSent | ClientState::Pending => {
                (client.mx, client.place, client.peer_id) = (mx, Place { bufx, offset }, s_id);
                client.state = ClientState::Open;
                client.retries = 0;
                self.queue.retain(|queued| queued.owner != Some(id));
                self.timers.clear(Timer::Sequence(id));
                cx.events.push_back((self.id, Event::RegionReady { id }));
            }
            ClientState::Cancelling => {
                client.peer_id = s_id;
                self.end_client(cx, id, Failure::Aborted);
            }
            ClientState::Open if client.peer_id != s_id => {
                cx.log(Logged::Unexpected_Opcode_Error {
                    unexpected_opcode_value: Op::MemoryRegionAvailable as u8,
                });
            }
            ClientState::Open | ClientState::EndSent => {}
        }
    }

    /// Request_Answer for the region's request.
    pub(crate) fn client_answered<M>(&mut self, cx: &mut Context<'_, M>, id: u32, reject: bool) {
        let Some(Sequence::Client(client)) = self.sequences.get_mut(&id) else { return };
        match client.state {
            ClientState::RmrSent | ClientState::Pending | ClientState::Cancelling if reject => {
                let reason = client.end_reason.unwrap_or(Failure::Rejected);
                self.fail(cx, id, reason);
            }
            ClientState::RmrSent | ClientState::Pending => {
                client.state = ClientState::Pending;
                client.retries = 0;
                self.queue.retain(|queued| queued.owner != Some(id));
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.pending()));
            }
            _ => {}
        }
    }

    /// The upper layer ends the region.
    pub(crate) fn end_client<M>(&mut self, cx: &mut Context<'_, M>, id: u32, reason: Failure) {
        let unasked = self.is_unasked(id);
        let Some(Sequence::Client(client)) = self.sequences.get_mut(&id) else { return };
        match client.state {
            ClientState::RmrSent if unasked => self.fail(cx, id, reason),
            ClientState::RmrSent | ClientState::Pending => {
                client.state = ClientState::Cancelling;
                client.end_reason = Some(reason);
                self.queue.retain(|queued| queued.owner != Some(id));
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.quarantine()));
            }
            ClientState::Open | ClientState::Cancelling => {
                let was_open = client.state == ClientState::Open;
                client.state = ClientState::EndSent;
                client.end_reason = (!was_open).then_some(reason);
                client.retries = 0;
                let d_id = client.peer_id;
                self.fail_parts(cx, id, Failure::Aborted);
                self.drop_sends(id);
                self.timers.clear(Timer::Sequence(id));
                self.send_end(id, d_id, false);
            }
            ClientState::EndSent => {}
        }
    }

    /// End_Ack came.
    pub(crate) fn client_ended<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Client(client)) = self.sequences.get(&id) else { return };
        if client.state == ClientState::EndSent {
            let outcome = client.end_reason.map_or(Outcome::Complete, Outcome::Failed);
            self.bury(cx, id, false);
            self.finished(cx, id, outcome, 0);
        }
    }

    /// Puts, Gets and FetchOps of a region fail with it.
    pub(crate) fn fail_parts<M>(&mut self, cx: &mut Context<'_, M>, id: u32, failure: Failure) {
        let puts = match self.sequences.get_mut(&id) {
            Some(Sequence::Client(client)) => core::mem::take(&mut client.puts),
            _ => return,
        };
        for put in puts.into_keys() {
            self.timers.clear(Timer::Put(id, put));
            let outcome = Outcome::Failed(failure);
            cx.events.push_back((self.id, Event::PutFinished { id, put, outcome }));
        }
        let parts: Vec<u32> = self
            .sequences
            .iter()
            .filter(|(_, sequence)| match sequence {
                Sequence::Get(get) => get.wanted.region == id,
                Sequence::Fetch(fetch) => fetch.wanted.region == id,
                _ => false,
            })
            .map(|(&part, _)| part)
            .collect();
        for part in parts {
            self.bury(cx, part, false);
            self.finished(cx, part, Outcome::Failed(failure), 0);
        }
    }

    fn open_region(&self, id: u32, offset: u64, bytes: u64) -> Option<&RegionClient> {
        match self.sequences.get(&id) {
            Some(Sequence::Client(client)) if client.state == ClientState::Open && self.is_open() => {
                let inside = offset.checked_add(bytes).is_some_and(|end| end <= client.t_len);
                (inside && bytes > 0).then_some(client)
            }
            _ => None,
        }
    }

    /// Puts `span` at octet `offset` of the region; the number of the Put.
    pub(crate) fn put(
        &mut self,
        config: &crate::config::Config,
        id: u32,
        offset: u64,
        span: Span,
        options: TransferOptions,
    ) -> Option<u64> {
        let bufsize = self.remote.bufsize;
        let client = self.open_region(id, offset, span.bytes)?;
        let place = client.place.advance(offset, bufsize);
        let stu = 1 << self.stu_exponent(config, client.channel);
        if layout::stus(place, span.bytes, bufsize, stu) + 1 > layout::STUS_PER_BLOCK {
            return None;
        }
        let (d_id, mx, channel, ordinal) = (client.peer_id, client.mx, client.channel, client.next_put);
        self.outgoing.push_back(Outgoing {
            owner: id,
            part: Part::Put,
            ordinal,
            d_id,
            s_id: options.opaque,
            mx,
            b_num: layout::b_num(ordinal),
            place,
            address: span.address,
            ring: None,
            left: span.bytes,
            stu_num: 0,
            channel,
            silent: options.silent,
            interrupt: options.interrupt,
            ask: self.reliable,
            to: self.peer,
            interface: Some(self.interface),
            sync: None,
            sum: Sum::ZERO,
            in_segment: 0,
            last_place: place,
        });
        if let Some(Sequence::Client(client)) = self.sequences.get_mut(&id) {
            client.next_put += 1;
            client.puts.insert(ordinal, 0);
        }
        Some(ordinal)
    }

    /// The last Data of a Put has left.
    pub(crate) fn put_sent<M>(&mut self, cx: &mut Context<'_, M>, block: &Outgoing) {
        if block.ask {
            self.timers.set(Timer::Put(block.owner, block.ordinal), cx.after(cx.config.op_timeout));
        } else {
            self.put_done(cx, block.owner, block.ordinal, Outcome::Complete);
        }
    }

    fn put_done<M>(&mut self, cx: &mut Context<'_, M>, id: u32, put: u64, outcome: Outcome) {
        if let Some(Sequence::Client(client)) = self.sequences.get_mut(&id)
            && client.puts.remove(&put).is_some()
        {
            self.timers.clear(Timer::Put(id, put));
            cx.events.push_back((self.id, Event::PutFinished { id, put, outcome }));
        }
    }

    pub(crate) fn put_expired<M>(&mut self, cx: &mut Context<'_, M>, id: u32, put: u64) {
        let Some(Sequence::Client(client)) = self.sequences.get_mut(&id) else { return };
        let d_id = client.peer_id;
        let Some(retries) = client.puts.get_mut(&put) else { return };
        if Self::expired(cx, retries) {
            self.ask_state(id, d_id, Some(put), Timer::Put(id, put), true);
        } else {
            self.put_done(cx, id, put, Outcome::Failed(Failure::Timeout));
        }
    }

    /// Request_State_Response about a Put.
    pub(crate) fn put_state<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        asked: Option<u64>,
        (b_seq, b_num, s_id): (u32, u32, u32),
    ) {
        let (Some(put), Some(Sequence::Client(client))) = (asked, self.sequences.get(&id)) else { return };
        let highest = layout::ordinal(b_seq, client.next_put).map_or(0, |ordinal| ordinal + 1);
        let unknown = s_id == crate::ids::NO_ID;
        if !unknown
            && (highest > client.next_put || (b_num != layout::NO_BLOCK && b_num != layout::b_num(put)))
        {
            return cx.log(Logged::Out_Of_Range_B_num_Error);
        }
        let outcome = match (unknown, b_num) {
            (true, _) => Outcome::Failed(Failure::Unconfirmed),
            (false, layout::NO_BLOCK) => Outcome::Failed(Failure::Unconfirmed),
            (false, _) => Outcome::Complete,
        };
        self.put_done(cx, id, put, outcome);
    }

    pub(crate) fn client_expired<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Client(client)) = self.sequences.get_mut(&id) else { return };
        let d_id = client.peer_id;
        match client.state {
            ClientState::RmrSent | ClientState::Pending => {
                if Self::expired(cx, &mut client.retries) {
                    client.state = ClientState::RmrSent;
                    self.send_rmr(id, true);
                } else {
                    self.fail(cx, id, Failure::Timeout);
                }
            }
            ClientState::Open => {}
            ClientState::Cancelling => self.fail(cx, id, Failure::Aborted),
            ClientState::EndSent => {
                if Self::expired(cx, &mut client.retries) {
                    self.send_end(id, d_id, true);
                } else {
                    self.fail(cx, id, Failure::Timeout);
                }
            }
        }
    }

    fn wanted(&mut self, now: u64, id: u32, offset: u64, span: Span, extras: Extras) -> Option<Wanted> {
        let region_peer_id = self.open_region(id, offset, span.bytes)?.peer_id;
        let mx = self.indices.assign(now)?;
        let place = self.buffers.expose(span)?;
        let (pending, retries) = (false, 0);
        Some(Wanted { region: id, region_peer_id, offset, span, mx, place, pending, retries, extras })
    }

    /// Gets up to 65 535 octets of the region into `span`; the id.
    pub(crate) fn get<M: Memory>(
        &mut self,
        cx: &Context<'_, M>,
        id: u32,
        offset: u64,
        span: Span,
        extras: Extras,
    ) -> Option<u32> {
        if span.bytes > u64::from(u16::MAX) || !cx.memory.contains(span.address, span.bytes) {
            return None;
        }
        let wanted = self.wanted(cx.now, id, offset, span, extras)?;
        let get = Get { wanted, next_stu: 0, received: 0, damaged: false, sum: Sum::ZERO };
        let get = self.begin(Sequence::Get(get));
        self.send_wanted(get, false);
        Some(get)
    }

    /// FetchOp on the word at octet `offset` of the region; the old word goes to `address`. Gives the id.
    pub(crate) fn fetch_op<M: Memory>(
        &mut self,
        cx: &Context<'_, M>,
        id: u32,
        offset: u64,
        function: Function,
        address: u64,
        extras: Extras,
    ) -> Option<u32> {
        let span = Span::new(address, 8);
        if !self.remote.attributes.fetch_op || !offset.is_multiple_of(8) || !cx.memory.contains(address, 8) {
            return None;
        }
        // The answer is one STU, so it may not cross a buffer.
        if address % (1u64 << self.local.bufsize) > (1u64 << self.local.bufsize) - 8 {
            return None;
        }
        let wanted = self.wanted(cx.now, id, offset, span, extras)?;
        let fetch = self.begin(Sequence::Fetch(Fetch { wanted, function, sync: 0 }));
        self.send_wanted(fetch, false);
        Some(fetch)
    }

    /// Sends the Get or FetchOp `id`, the same every time.
    fn send_wanted(&mut self, id: u32, again: bool) {
        let (wanted, function) = match self.sequences.get(&id) {
            Some(Sequence::Get(get)) => (&get.wanted, None),
            Some(Sequence::Fetch(fetch)) => (&fetch.wanted, Some(fetch.function)),
            _ => return,
        };
        let Some(Sequence::Client(region)) = self.sequences.get(&wanted.region) else { return };
        let Place { bufx, offset } = region.place.advance(wanted.offset, self.remote.bufsize);
        let (channel, d_id) = (region.channel.number(), region.peer_id);
        let (mx, i_bufx, i_offset) = (wanted.mx, wanted.place.bufx, wanted.place.offset);
        let body = match function {
            None => {
                let t_len = wanted.span.bytes as u16;
                Body::Get { channel, t_len, mx, bufx, offset, i_bufx, i_offset, d_id, s_id: id }
            }
            Some(function) => {
                Body::FetchOp { function, channel, mx, bufx, offset, i_bufx, i_offset, d_id, s_id: id }
            }
        };
        let (extras, guarded) = (wanted.extras, self.reliable);
        let queued = self.push(Class::Ordinary, body).with_extras(extras).of(id).shown_by(Proof::Id(id));
        queued.again = again;
        queued.arm = guarded.then_some(Timer::Sequence(id));
    }

    /// Request_Answer for a Get or FetchOp.
    pub(crate) fn wanted_answered<M>(&mut self, cx: &mut Context<'_, M>, id: u32, reject: bool) {
        let wanted = match self.sequences.get_mut(&id) {
            Some(Sequence::Get(get)) => &mut get.wanted,
            Some(Sequence::Fetch(fetch)) => &mut fetch.wanted,
            _ => return,
        };
        if reject {
            self.bury(cx, id, false);
            self.finished(cx, id, Outcome::Failed(Failure::Rejected), 0);
        } else {
            wanted.pending = true;
            wanted.retries = 0;
            self.queue.retain(|queued| queued.owner != Some(id));
            self.timers.set(Timer::Sequence(id), cx.after(cx.config.pending()));
        }
    }

    pub(crate) fn get_expired<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Get(get)) = self.sequences.get_mut(&id) else { return };
        if Self::expired(cx, &mut get.wanted.retries) {
            // The server begins again at STU 0.
            (get.next_stu, get.received, get.damaged, get.sum) = (0, 0, false, Sum::ZERO);
            self.send_wanted(id, true);
        } else {
            self.fail(cx, id, Failure::Timeout);
        }
    }

    pub(crate) fn fetch_expired<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Fetch(fetch)) = self.sequences.get_mut(&id) else { return };
        if Self::expired(cx, &mut fetch.wanted.retries) {
            self.send_wanted(id, true);
        } else {
            // It may have been executed.
            self.fail(cx, id, Failure::Timeout);
        }
    }

    /// Data for a Get.
    pub(crate) fn get_data<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        header: &Header,
        payload: &[u8],
    ) -> bool {
        let bufsize = self.local.bufsize;
        let max_stu = 1u64 << self.local.max_stu.min(31);
        let Some(Sequence::Get(get)) = self.sequences.get_mut(&id) else { return false };
        if header.b_id != get.wanted.mx {
            cx.log(Logged::Invalid_Mx_Error);
            return false;
        }
        let (bytes, stu_num) = (payload.len() as u64, u32::from(header.param));
        if stu_num == 0 && get.next_stu != 0 && get.received == 0 {
            get.next_stu = 0;
        }
        if get.damaged || stu_num < get.next_stu {
            return false;
        }
        let place = Place { bufx: header.bufx, offset: header.offset };
        let at = place.distance(get.wanted.place, bufsize).and_then(|at| u64::try_from(at).ok());
        let inside = at.filter(|at| at.checked_add(bytes).is_some_and(|end| end <= get.wanted.span.bytes));
        let verdict = if bytes > max_stu {
            Err(Logged::Illegal_STU_Size_Error)
        } else if stu_num > get.next_stu {
            Err(Logged::Out_Of_Order_STU_Error)
        } else if bytes > 0 && place.room(bufsize) == 0 {
            Err(Logged::Oversized_Offset_Error)
        } else if bytes > 0 && (inside.is_none() || bytes > place.room(bufsize)) {
            Err(Logged::Out_Of_Range_Bufx_Error)
        } else {
            Ok(inside.unwrap_or(0))
        };
        let at = match verdict {
            Ok(at) => at,
            Err(entry) => {
                get.damaged = true;
                cx.log(entry);
                return false;
            }
        };
        cx.memory.write(get.wanted.span.address + at, payload);
        get.next_stu += 1;
        get.received += bytes;
        get.sum.add(&header.to_bytes());
        get.sum.add(payload);
        if header.cksum != 0 && cx.config.check && !core::mem::take(&mut get.sum).is_intact() {
            get.damaged = true;
            cx.log(Logged::Cksum_Error);
            return false;
        }
        if header.flags.has(Flags::LAST) {
            if get.received == get.wanted.span.bytes {
                let bytes = get.received;
                self.bury(cx, id, false);
                self.finished(cx, id, Outcome::Complete, bytes);
                return true;
            }
            get.damaged = true;
        }
        if self.reliable {
            self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout));
        }
        true
    }

    /// Data for a FetchOp.
    pub(crate) fn fetch_data<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        header: &Header,
        payload: &[u8],
    ) -> bool {
        let Some(Sequence::Fetch(fetch)) = self.sequences.get_mut(&id) else { return false };
        let place = Place { bufx: header.bufx, offset: header.offset };
        let mut sum = Sum::ZERO;
        sum.add(&header.to_bytes());
        sum.add(payload);
        let Ok(octets) = <[u8; 8]>::try_from(payload) else {
            cx.log(Logged::Illegal_STU_Size_Error);
            return false;
        };
        let error = if header.b_id != fetch.wanted.mx {
            Some(Logged::Invalid_Mx_Error)
        } else if header.param != 0 {
            Some(Logged::Out_Of_Order_STU_Error)
        } else if place.room(self.local.bufsize) == 0 {
            Some(Logged::Oversized_Offset_Error)
        } else if place != fetch.wanted.place {
            Some(Logged::Out_Of_Range_Bufx_Error)
        } else if header.cksum != 0 && cx.config.check && !sum.is_intact() {
            Some(Logged::Cksum_Error)
        } else {
            None
        };
        if let Some(entry) = error {
            cx.log(entry);
            return false;
        }
        if !header.flags.has(Flags::LAST) {
            cx.log(Logged::Improper_Flag_Use_Error { flags: Flags::LAST.bits() });
        }
        cx.memory.write(fetch.wanted.span.address, &octets);
        fetch.sync = header.sync;
        let (sync, d_id) = (header.sync, fetch.wanted.region_peer_id);
        let word = match self.remote.attributes.little_endian {
            true => u64::from_le_bytes(octets),
            false => u64::from_be_bytes(octets),
        };
        self.bury(cx, id, false);
        self.push(Class::Ordinary, Body::FetchOpComplete { sync, d_id, s_id: id }).owed = true;
        cx.events.push_back((self.id, Event::Fetched { id, word }));
        self.finished(cx, id, Outcome::Complete, 8);
        true
    }
}
