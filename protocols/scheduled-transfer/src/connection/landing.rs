//! What arrives for a Transfer: each STU to its place, each Block once (2.3.3, ST-D60, steps 12 to 18).

use super::destination::{DestinationState, Exposed};
use super::{Connection, Context, Sequence, Timer};
use crate::checksum::Sum;
use crate::errors::Logged;
use crate::event::Outcome;
use crate::layout::{self, Place};
use crate::memory::Memory;
use crate::slots::{Class, Proof};
use crate::wire::{Body, Flags, Header, Op};

impl Connection {
    /// Data for this Transfer (ST-D60, steps 12 to 18).
    pub(crate) fn transfer_data<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        header: &Header,
        payload: &[u8],
    ) -> bool {
        let agreed = self.out_of_order_agreed();
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return false };
        let last = header.flags.has(Flags::LAST);
        match destination.state {
            DestinationState::Exposing => {}
            DestinationState::Complete => {
                cx.log(Logged::Invalid_Mx_Error);
                return false;
            }
            DestinationState::EndSent => return false,
            _ => {
                cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: Op::Data as u8 });
                return false;
            }
        }
        let beyond = |ordinal: u64| destination.last.is_some_and(|(last, _)| ordinal > last);
        let ordinal = layout::ordinal(header.b_num, destination.correct)
            .filter(|&ordinal| ordinal < destination.next && !beyond(ordinal));
        let Some(ordinal) = ordinal else {
            cx.log(Logged::Out_Of_Range_B_num_Error);
            return false;
        };
        let Some(block) = destination.exposed.get_mut(&ordinal).filter(|block| block.mx == header.b_id)
        else {
            cx.log(Logged::Invalid_Mx_Error);
            return false;
        };
        self.gate.arrived(Proof::Index(header.b_id));
        let stu_num = u32::from(header.param);
        let span = destination.span;
        let ring = destination.t_len == 0;
        if block.damaged {
            return false;
        }
        if payload.len() as u64 > 1 << self.local.max_stu.min(31) {
            block.damaged = true;
            cx.log(Logged::Illegal_STU_Size_Error);
            return false;
        }
        if stu_num == 0 && block.next_stu == 0 {
            let expected = destination.previous.map_or(0, |previous| previous + 1);
            if ordinal != expected && destination.previous != Some(ordinal) && !agreed {
                cx.log(Logged::Out_Of_Order_B_num);
            }
            destination.previous = Some(ordinal);
        }
        if stu_num < block.next_stu {
            // A repetition; the Block stays good. Send_State is answered again.
            if header.flags.has(Flags::SEND_STATE) {
                self.respond_state(id, header);
            }
            return false;
        }
        let verdict = if stu_num > block.next_stu {
            Err(Logged::Out_Of_Order_STU_Error)
        } else {
            block.place_stu(header, payload, self.local.bufsize)
        };
        let at = match verdict {
            Ok(at) => at,
            Err(entry) => {
                block.damaged = true;
                cx.log(entry);
                return false;
            }
        };
        let start = destination.layout.map_or(0, |layout| layout.start(ordinal));
        let address = span.address + if ring { (start + at) % span.bytes } else { start + at };
        debug_assert!(payload.is_empty() || address + payload.len() as u64 <= span.address + span.bytes);
        debug_assert!(
            payload.is_empty()
                || self.buffers.address(Place { bufx: header.bufx, offset: header.offset }) == Some(address)
        );
        destination.data_seen = true;
        block.next_stu += 1;
        block.received += payload.len() as u64;
        // What carries a Cksum that is wrong is discarded: the memory never sees it (ST-D56).
        if cx.config.check && !block.verify(cx.log, header, payload, last) {
            block.damaged = true;
            cx.log(Logged::Cksum_Error);
            return false;
        }
        cx.memory.write(address, payload);
        if last {
            let short = ring && block.received > 0 && block.received < block.bytes;
            if block.received != block.bytes && !short {
                block.damaged = true;
                // The Block is not received correctly; the STU itself was.
                return true;
            }
            let (mx, bytes) = (block.mx, block.received);
            if short {
                destination.last = Some((ordinal, bytes));
            }
            destination.bytes += bytes;
            destination.exposed.remove(&ordinal);
            destination.block_done(ordinal);
            self.indices.retire(mx, cx.after(cx.config.quarantine()));
            self.block_arrived(cx, id);
        }
        true
    }

    /// Request_State_Response to Data with Send_State.
    pub(crate) fn respond_state(&mut self, id: u32, header: &Header) {
        let slots = self.free_slots_to_report();
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        let (b_seq, known) = destination.state_of(header.b_num);
        let b_num = if known == Some(true) { header.b_num } else { layout::NO_BLOCK };
        let (sync, d_id) = (header.sync, destination.peer_id);
        let answer = Body::RequestStateResponse { slots, b_seq, sync, b_num, d_id, s_id: id };
        self.push(Class::Response, answer).owed = true;
    }

    fn block_arrived<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
        destination.retries = 0;
        if !destination.is_whole() {
            return self.expose_blocks(cx, id);
        }
        destination.state = DestinationState::Complete;
        let bytes = destination.bytes;
        if let Some((last, _)) = destination.last {
            let until = cx.now.saturating_add(cx.config.quarantine());
            destination.exposed.retain(|&block, exposed| {
                if block > last {
                    self.indices.retire(exposed.mx, until);
                }
                block <= last
            });
            destination.next = last + 1;
        }
        self.queue.retain(|queued| queued.owner != Some(id));
        self.timers.set(Timer::Sequence(id), cx.after(cx.config.quarantine()));
        self.finished(cx, id, Outcome::Complete, bytes);
    }
}

impl Exposed {
    /// Where in the Block the STU belongs (ST-D60, steps 16 and 17).
    fn place_stu(&self, header: &Header, payload: &[u8], bufsize: u32) -> Result<u64, Logged> {
        let bytes = payload.len() as u64;
        if bytes == 0 {
            return Ok(self.received);
        }
        let place = Place { bufx: header.bufx, offset: header.offset };
        if place.room(bufsize) == 0 {
            return Err(Logged::Oversized_Offset_Error);
        }
        let at = place.distance(self.place, bufsize).and_then(|at| u64::try_from(at).ok());
        let inside = at.filter(|at| at.checked_add(bytes).is_some_and(|end| end <= self.bytes));
        match inside {
            Some(at) if bytes <= place.room(bufsize) && self.received + bytes <= self.bytes => Ok(at),
            _ => Err(Logged::Out_Of_Range_Bufx_Error),
        }
    }

    /// Adds to the segment and checks it at its end.
    fn verify(&mut self, log: &mut crate::errors::Log, header: &Header, payload: &[u8], last: bool) -> bool {
        self.sum.add(&header.to_bytes());
        self.sum.add(payload);
        if header.cksum == 0 {
            if last && self.protected {
                log.counters_mut().unprotected_tail += 1;
            }
            return true;
        }
        self.protected = true;
        let sum = core::mem::replace(&mut self.sum, Sum::ZERO);
        sum.is_intact()
    }
}
