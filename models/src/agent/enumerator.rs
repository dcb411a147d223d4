//! A host that sets the fabric up: the engine of `logical::enumeration` on an endpoint.
//!
//! One request is under way at a time; the endpoint's requester repeats it when no response comes in time.

use super::protocol::{Conveyance, Cx, Outcome, Protocol, Received, Send, Token};
use crate::agent::data::Data;
use crate::config::{EnumerationConfig, HostWrite};
use crate::registers::enumeration::{Diary, Unmade, UnmadeBecause, options};
use logical::enumeration::{Enumerator, Request, Target};
use logical::wire::maintenance::Access;
use sim_core::Time;
use std::collections::VecDeque;

/// The enumerating host.
#[derive(Debug)]
pub(crate) struct Enumeration {
    pub host: Enumerator,
    pub diary: Diary,
    priority: u8,
    /// Register that is read or written now.
    asked: Option<(Access, bool)>,
    /// What is to be changed when the fabric is set up, and the change that is under way.
    writes: VecDeque<HostWrite>,
    changing: Option<HostWrite>,
}

impl Enumeration {
    pub fn new(settings: &EnumerationConfig, priority: u8, writes: &[HostWrite]) -> Self {
        Enumeration {
            host: Enumerator::new(options(settings)),
            diary: Diary::default(),
            priority,
            asked: None,
            writes: writes.iter().copied().collect(),
            changing: None,
        }
    }

    /// Begins the next change whose time has come, if nothing is under way.
    fn change(&mut self, cx: &mut Cx<'_>) {
        if self.asked.is_some() || self.writes.front().is_none_or(|next| next.at.0 > cx.fabric_now) {
            return;
        }
        self.changing = self.writes.pop_front();
        self.ask_for_change(cx, None);
    }

    /// Reads the register that is changed, or writes it.
    fn ask_for_change(&mut self, cx: &mut Cx<'_>, write: Option<u32>) {
        let Some(HostWrite { destination, hop_count, offset, .. }) = self.changing else { return };
        let access = Access::register(offset).expect("registers lie at multiples of four");
        self.diary.changes += 1;
        self.ask(cx, destination, hop_count, access, write);
    }

    fn ask(&mut self, cx: &mut Cx<'_>, destination: u16, hop_count: u8, access: Access, write: Option<u32>) {
        self.asked = Some((access, write.is_some()));
        cx.send(Send {
            to: destination.into(),
            priority: self.priority,
            conveyance: Conveyance::Register { hop_count, access, write },
            payload: Data::length(if write.is_some() { 4 } else { 0 }),
        });
    }

    /// A register that is changed was read (`word`), or written.
    fn changed(&mut self, cx: &mut Cx<'_>, write: HostWrite, word: Option<u32>) {
        match word {
            Some(before) => self.ask_for_change(cx, Some(before & !write.mask | write.value & write.mask)),
            None => {
                self.changing = None;
                self.change(cx);
            }
        }
    }

    /// Sends the next request, if there is one.
    fn go_on(&mut self, cx: &mut Cx<'_>) {
        while let Some(Request { target, access, write }) = self.host.poll_transmit() {
            self.write_down(cx);
            match target {
                Target::Own => {
                    let value = write.expect("a host knows what its own registers say");
                    cx.write_own(access.offset(), value);
                    self.host.handle_done(0);
                }
                Target::Remote { destination, hop_count } => {
                    self.diary.count(write.is_some());
                    return self.ask(cx, destination, hop_count, access, write);
                }
            }
        }
        self.write_down(cx);
        self.change(cx);
    }

    /// Changes that were due by `end` and were not made, in the order in which they were due.
    pub fn unmade(&self, end: Time) -> Vec<Unmade> {
        let late = self.changing.iter().chain(&self.writes).filter(|write| write.at <= end);
        let late = late.map(|write| Unmade::new(write, UnmadeBecause::Waiting));
        self.diary.unmade.iter().copied().chain(late).collect()
    }

    fn write_down(&mut self, cx: &Cx<'_>) {
        while let Some(event) = self.host.poll_event() {
            self.diary.note(Time(cx.fabric_now), event);
        }
    }
}

impl Protocol for Enumeration {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.go_on(cx);
    }

    fn received(&mut self, _: &mut Cx<'_>, _: Received) {}

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        self.change(cx);
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.writes.front().filter(|_| self.asked.is_none()).map(|next| next.at)
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, _: Token, outcome: Outcome) {
        let Some((access, written)) = self.asked.take() else { return };
        if let Some(write) = self.changing {
            let mut word = None;
            if let Outcome::Answer(answer) = outcome {
                cx.round_trip(&answer, answer.leg.payload);
                let octets = answer.payload.as_bytes().and_then(|bytes| bytes.first_chunk::<8>());
                word = octets.filter(|_| !written).map(|octets| access.pick(*octets));
            } else {
                // Without an answer to the read the register stays as it is; without one to the write nobody
                // knows.
                self.diary.problems += 1;
                let why = if written { UnmadeBecause::Unconfirmed } else { UnmadeBecause::Unread };
                self.diary.unmade.push(Unmade::new(&write, why));
            }
            return self.changed(cx, write, word);
        }
        match outcome {
            Outcome::Answer(answer) => {
                cx.round_trip(&answer, answer.leg.payload);
                let word = answer.payload.as_bytes().and_then(|bytes| bytes.first_chunk::<8>());
                match (written, word) {
                    (true, _) => self.host.handle_done(0),
                    (false, Some(word)) => self.host.handle_done(access.pick(*word)),
                    (false, None) => self.host.handle_failure(),
                }
            }
            Outcome::Sent | Outcome::Failed => self.host.handle_failure(),
        }
        self.go_on(cx);
    }
}
