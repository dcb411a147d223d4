//! A host that sets the fabric up: the engine of `logical::enumeration` on an endpoint.
//!
//! One request is under way at a time; the endpoint's requester repeats it when no response comes in time.

use super::protocol::{Conveyance, Cx, Outcome, Protocol, Received, Send, Token};
use crate::agent::data::Data;
use crate::config::EnumerationConfig;
use crate::registers::enumeration::{Diary, options};
use logical::enumeration::{Enumerator, Request, Target};
use logical::wire::maintenance::Access;
use sim_core::Time;

/// The enumerating host.
#[derive(Debug)]
pub(crate) struct Enumeration {
    pub host: Enumerator,
    pub diary: Diary,
    priority: u8,
    /// Register that is read or written now.
    asked: Option<(Access, bool)>,
}

impl Enumeration {
    pub fn new(settings: &EnumerationConfig, priority: u8) -> Self {
        let host = Enumerator::new(options(settings));
        Enumeration { host, diary: Diary::default(), priority, asked: None }
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
                    self.asked = Some((access, write.is_some()));
                    self.diary.count(write.is_some());
                    cx.send(Send {
                        to: destination.into(),
                        priority: self.priority,
                        conveyance: Conveyance::Register { hop_count, access, write },
                        payload: Data::length(if write.is_some() { 4 } else { 0 }),
                    });
                    return;
                }
            }
        }
        self.write_down(cx);
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

    fn outcome(&mut self, cx: &mut Cx<'_>, _: Token, outcome: Outcome) {
        let Some((access, written)) = self.asked.take() else { return };
        match outcome {
            Outcome::Answer(answer) => {
                cx.round_trip(&answer);
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
