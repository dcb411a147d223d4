//! What leaves: Control operations past the Slot gate, and the STUs of Blocks.

use super::{Connection, Context, Extras, Question, Sequence, State, Timer};
use crate::checksum::{self, Sum};
use crate::layout::{NO_BLOCK, Place};
use crate::llp::Ula;
use crate::memory::Memory;
use crate::slots::{Class, Proof};
use crate::wire::flags::DataChannel;
use crate::wire::{Body, Flags, HEADER_BYTES, Header, Op};
use alloc::vec::Vec;

/// A Control operation that waits to leave.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Queued {
    pub(crate) class: Class,
    /// A repetition, or what nothing may block: it may leave at view 0 if it asks for Slots or takes down.
    pub(crate) again: bool,
    pub(crate) header: Header,
    payload: Option<[u8; 32]>,
    pub(crate) to: Ula,
    pub(crate) interface: u8,
    /// The sequence that it belongs to.
    pub(crate) owner: Option<u32>,
    /// The guard that starts when it leaves.
    pub(crate) arm: Option<Timer>,
    /// Whether Sync asks for Slots.
    pub(crate) asks: bool,
    /// What will show that it has arrived.
    pub(crate) proof: Option<Proof>,
    /// A Clear_To_Send beyond the first of its Transfer, for which no guard of the peer waits.
    pub(crate) further: bool,
    /// It answers what has arrived, so it goes even where its sequence is over.
    pub(crate) owed: bool,
}

impl Queued {
    pub(crate) const fn new(class: Class, header: Header, to: Ula, interface: u8) -> Self {
        Self {
            class,
            again: false,
            header,
            payload: None,
            to,
            interface,
            owner: None,
            arm: None,
            asks: false,
            proof: None,
            further: false,
            owed: false,
        }
    }

    pub(crate) fn with_extras(&mut self, extras: Extras) -> &mut Self {
        self.payload = extras.payload;
        self.header.flags = self.header.flags.with_if(Flags::INTERRUPT, extras.interrupt);
        self
    }

    pub(crate) const fn arming(&mut self, timer: Timer) -> &mut Self {
        self.arm = Some(timer);
        self
    }

    pub(crate) const fn of(&mut self, owner: u32) -> &mut Self {
        self.owner = Some(owner);
        self
    }

    pub(crate) const fn shown_by(&mut self, proof: Proof) -> &mut Self {
        self.proof = Some(proof);
        self
    }
}

/// What a Block is part of.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Part {
    /// A Block of a Transfer.
    Transfer,
    /// A Put.
    Put,
    /// The answer to a Get.
    Get,
    /// The answer to a FetchOp: these eight octets.
    Fetch([u8; 8]),
}

/// A Block on its way out.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Outgoing {
    pub(crate) owner: u32,
    pub(crate) part: Part,
    pub(crate) ordinal: u64,
    pub(crate) d_id: u32,
    pub(crate) s_id: u32,
    pub(crate) mx: u16,
    pub(crate) b_num: u32,
    pub(crate) place: Place,
    pub(crate) address: u64,
    /// Where the memory of an unlimited Transfer begins again: (end, octets back).
    pub(crate) ring: Option<(u64, u64)>,
    pub(crate) left: u64,
    pub(crate) stu_num: u32,
    pub(crate) channel: DataChannel,
    pub(crate) silent: bool,
    pub(crate) interrupt: bool,
    /// S on the last Data.
    pub(crate) ask: bool,
    pub(crate) to: Ula,
    /// Bound to an interface when it begins; before, if only that one will do.
    pub(crate) interface: Option<u8>,
    /// Sync of the Data if it is fixed.
    pub(crate) sync: Option<u32>,
    pub(crate) sum: Sum,
    pub(crate) in_segment: u32,
    pub(crate) last_place: Place,
}

/// One operation that leaves; its octets are in the caller's buffer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Transmit {
    /// Destination address.
    pub to: Ula,
    /// Interface that it leaves through.
    pub interface: u8,
    /// Channel: 0 for Control, else D.
    pub channel: u8,
    /// Its header.
    pub header: Header,
}

impl Connection {
    /// Whether operations other than those of set-up and teardown may be sent.
    pub(crate) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// The next operation for `interface` on one of `channels` (bit n for channel n), into `out`.
    pub(crate) fn poll_transmit<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        interface: u8,
        channels: u8,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        if channels & 1 != 0
            && let Some(transmit) = self.poll_control(cx, interface, out)
        {
            return Some(transmit);
        }
        let transmit = self.poll_data(cx, interface, channels, out);
        if transmit.is_none() {
            self.watch_slots(cx);
        }
        transmit
    }

    fn poll_control<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        interface: u8,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let gate = &self.gate;
        // Blocks of other Transfers would be enabled for ever with Slots that Data waits for.
        let turn_of_data = self.permitted_since_data
            && gate.is_counted()
            && gate.view() == 2
            && self.outgoing.iter().any(|block| self.takes_slot(block, cx.config));
        let at = self.queue.iter().position(|queued| {
            queued.interface == interface
                && gate.allows(queued.class, queued.again)
                && !(turn_of_data && queued.further)
        })?;
        let mut queued = self.queue.remove(at)?;
        self.permitted_since_data |= queued.further;
        self.gate.send(queued.class, cx.now, 0, cx.config.overtaking());
        if queued.asks {
            self.gate.ask(queued.header.sync, cx.now, 0, cx.config.overtaking(), !cx.config.ordered);
        }
        if let Some(proof) = queued.proof {
            self.gate.expect(proof, queued.again);
        }
        if let Some(timer) = queued.arm {
            self.timers.set(timer, cx.after(cx.config.op_timeout));
        }
        if queued.header.op == Op::ClearToSend as u8
            && let Some(owner) = queued.owner
        {
            // What waited for Slots of the peer is not missing yet.
            self.permitted += 1;
            self.watch_missing(cx, owner);
        }
        let payload = queued.payload.as_ref().map_or(&[][..], |payload| &payload[..]);
        if cx.config.compute {
            queued.header.cksum = checksum::of_operation(&queued.header, payload);
        }
        out.extend_from_slice(&queued.header.to_bytes());
        out.extend_from_slice(payload);
        self.close_when_even(cx);
        Some(Transmit { to: queued.to, interface, channel: 0, header: queued.header })
    }

    /// Whether the next Data of a Block takes a Slot: of a silent one only the last may.
    fn takes_slot(&self, block: &Outgoing, config: &crate::config::Config) -> bool {
        let room = block.place.room(self.remote.bufsize).min(self.stu_limit(config, block.channel));
        !block.silent || (block.ask && block.left <= room && !block.needs_trailer(config))
    }

    /// Largest STU on a channel in octets.
    pub(crate) fn stu_limit(&self, config: &crate::config::Config, channel: DataChannel) -> u64 {
        1 << self.stu_exponent(config, channel)
    }

    pub(crate) fn stu_exponent(&self, config: &crate::config::Config, channel: DataChannel) -> u32 {
        let carried = config.carried();
        self.remote.max_stu.min(31).min(channel.stu_exponent()).min(carried).min(config.cut_stu)
    }

    fn poll_data<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        interface: u8,
        channels: u8,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let striped = self.out_of_order_agreed();
        let gate = &self.gate;
        let slots = gate.allows(Class::Ordinary, false) || self.outgoing.has_silent();
        if channels & !1 == 0 || !slots {
            // None may leave, and there may be many to look at.
            return None;
        }
        // Unless their order is free, Blocks of a Transfer and Puts of a region begin in it (ST-D40), also
        // behind one that waits for a Slot when they need none.
        let is_next = |block: &Outgoing| {
            let mut own = self.outgoing.iter().filter(|other| other.owner == block.owner);
            striped
                || block.stu_num > 0
                || own.find(|other| other.stu_num == 0).is_none_or(|first| first.ordinal == block.ordinal)
        };
        let can = |block: &Outgoing| {
            let here = match block.interface {
                Some(bound) => bound == interface,
                None => striped || interface == self.interface,
            };
            let wanted = channels >> block.channel.number() & 1 == 1;
            let class = if self.takes_slot(block, cx.config) { Class::Ordinary } else { Class::Free };
            here && wanted && gate.allows(class, false) && is_next(block)
        };
        let bound = self.outgoing.iter().position(|block| block.interface.is_some() && can(block));
        let at = bound.or_else(|| self.outgoing.iter().position(can))?;
        let sync = self.outgoing[at].sync.unwrap_or_else(|| self.next_sync());
        let config = cx.config;
        let (bufsize, limit) = (self.remote.bufsize, self.stu_limit(config, self.outgoing[at].channel));
        let (d_port, s_port, d_key) = (self.remote.port, self.local.port, self.remote.key);
        let block = &mut self.outgoing[at];
        block.interface = Some(interface);

        let mut bytes = block.left.min(block.place.room(bufsize)).min(limit);
        if let Some((end, _)) = block.ring {
            bytes = bytes.min(end - block.address);
        }
        let trailer = block.left == 0;
        let last = bytes == block.left && (trailer || !block.needs_trailer(config));
        let ask = last && block.ask;
        let place = if trailer { block.last_place } else { block.place };
        let body = Body::Data {
            silent: block.silent,
            send_state: ask,
            last,
            channel: block.channel.number(),
            stu_num: block.stu_num as u16,
            mx: block.mx,
            bufx: place.bufx,
            offset: place.offset,
            sync,
            b_num: block.b_num,
            d_id: block.d_id,
            s_id: block.s_id,
        };
        let interrupt = block.interrupt && last;
        let operation = crate::wire::Operation { d_port, s_port, d_key, interrupt, body };
        let mut header = operation.header();
        let start = out.len();
        out.extend_from_slice(&header.to_bytes());
        match block.part {
            Part::Fetch(word) => out.extend_from_slice(&word),
            _ => cx.memory.read(block.address, bytes as usize, out),
        }
        if config.compute {
            block.sum.add(&out[start..start + HEADER_BYTES]);
            block.sum.add(&out[start + HEADER_BYTES..]);
            block.in_segment += 1;
            if last || (config.segment_stus != 0 && block.in_segment >= config.segment_stus) {
                header.cksum = block.sum.cksum();
                out[start..start + HEADER_BYTES].copy_from_slice(&header.to_bytes());
                block.sum = Sum::ZERO;
                block.in_segment = 0;
            }
        }
        block.last_place = place;
        block.place = block.place.advance(bytes, bufsize);
        block.address += bytes;
        if let Some((end, back)) = block.ring
            && block.address == end
        {
            block.address -= back;
        }
        block.left -= bytes;
        block.stu_num += 1;
        let transmit = Transmit { to: block.to, interface, channel: block.channel.number(), header };

        let class = if block.silent && !ask { Class::Free } else { Class::Ordinary };
        self.permitted_since_data &= class == Class::Free;
        let channel = block.channel.number();
        self.gate.send(class, cx.now, channel, config.overtaking());
        if last && let Some(block) = self.outgoing.remove(at) {
            if ask {
                self.gate.ask(sync, cx.now, channel, config.overtaking(), !config.ordered);
                let (owner, data_of) = (Some(block.owner), Some(block.owner));
                self.questions.insert(sync, Question { owner, block: Some(block.ordinal), data_of });
            }
            self.block_sent(cx, &block);
        }
        Some(transmit)
    }

    fn block_sent<M: Memory>(&mut self, cx: &mut Context<'_, M>, block: &Outgoing) {
        match block.part {
            Part::Transfer => self.transfer_block_sent(cx, block),
            Part::Put => self.put_sent(cx, block),
            Part::Get | Part::Fetch(_) => {}
        }
    }

    pub(crate) const fn next_sync(&mut self) -> u32 {
        self.sync = self.sync.wrapping_add(1);
        self.sync
    }

    /// Asks for Slots, if something waits for them and nothing was asked, once an answer can bring some.
    fn watch_slots<M>(&mut self, cx: &Context<'_, M>) {
        let gate = &self.gate;
        let waits = self.is_open()
            && gate.is_counted()
            && (self.queue.iter().any(|queued| !gate.allows(queued.class, queued.again))
                || (gate.view() < 2 && !self.outgoing.is_empty()));
        let asked = || self.queue.iter().any(|queued| queued.asks && queued.owner.is_none());
        if !waits || asked() {
            return;
        }
        if gate.outstanding() > 0 {
            // An answer that is on its way brings Slots, unless it is lost.
            if !self.timers.is_set(Timer::Slots) {
                self.timers.set(Timer::Slots, cx.after(cx.config.op_timeout));
            }
            return;
        }
        // What belongs to the reserve leaves with one.
        let last = |queued: &Queued| queued.class == Class::Reserve && !gate.allows(queued.class, false);
        let need = if self.queue.iter().any(last) { 1 } else { 2 };
        let at = gate.worth_asking_at(need, cx.now, cx.config.overtaking(), !cx.config.ordered);
        if at <= cx.now {
            self.ask_for_slots();
            // From the reserve; the timer repeats it while the end is still blocked.
            self.timers.set(Timer::Slots, cx.after(cx.config.op_timeout));
        } else {
            // Anew each time: what shows that something has arrived makes it earlier.
            self.timers.set(Timer::Slots, at);
        }
    }

    /// Request_State for Slots alone (Com1).
    pub(crate) fn ask_for_slots(&mut self) {
        let gate = &self.gate;
        let blocked = gate.view() < 2 && gate.is_counted();
        if !self.is_open() || !blocked {
            return;
        }
        let sync = self.next_sync();
        self.questions.insert(sync, Question { owner: None, block: None, data_of: None });
        let queued =
            self.push(Class::Reserve, Body::RequestState { sync, b_num: 0, d_id: NO_BLOCK, s_id: 0 });
        queued.asks = true;
        queued.again = true;
        queued.arm = Some(Timer::Slots);
    }

    /// Request_State for a Transfer (`block` none) or a Block of `owner`, with its guard.
    pub(crate) fn ask_state(&mut self, owner: u32, d_id: u32, block: Option<u64>, timer: Timer, again: bool) {
        let sync = self.next_sync();
        let b_num = block.map_or(NO_BLOCK, crate::layout::b_num);
        self.questions.insert(sync, Question { owner: Some(owner), block, data_of: None });
        let body = Body::RequestState { sync, b_num, d_id, s_id: owner };
        let queued = self.push(Class::Reserve, body).of(owner).arming(timer);
        queued.asks = true;
        queued.again = again;
    }

    /// Whether anything waits to leave.
    pub(crate) fn has_output(&self) -> bool {
        !self.queue.is_empty() || !self.outgoing.is_empty()
    }

    /// Whether the sequence is live.
    pub(crate) fn is_live(&self, id: u32) -> bool {
        self.sequences.get(&id).is_some_and(|sequence| !matches!(sequence, Sequence::Tombstone { .. }))
    }
}

impl Outgoing {
    fn needs_trailer(&self, config: &crate::config::Config) -> bool {
        config.compute && config.trailers && !matches!(self.part, Part::Fetch(_)) && self.left > 0
    }
}
