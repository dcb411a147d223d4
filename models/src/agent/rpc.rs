//! Request and response: the worked example of a protocol on an endpoint.
//!
//! A client asks, a server answers at once, and the client gives up what is not answered in time. Both are
//! the same machine: one instance for each end of the flow. Note what is *not* here: a clock, a fabric, a
//! queue of packets. Everything comes through the five calls of [`Protocol`], and leaves through [`Cx`].

use super::data::Data;
use super::deadlines::Deadlines;
use super::protocol::{Awaited, Conveyance, Cx, Outcome, Protocol, Received, Token};
use super::workload::Sender;
use crate::endpoint::traffic::Source;
use crate::observe::probe::{ProtocolFact, TimeoutKind};
use sim_core::Time;

/// One end of a request/response flow.
#[derive(Debug)]
pub(crate) struct Rpc {
    sender: Sender,
    conveyance: Conveyance,
    /// Octets of an answer.
    answer: u32,
    /// How long a client waits, in picoseconds of the protocol clock.
    timeout: u64,
    /// Deadlines of the requests under way.
    waiting: Deadlines,
}

impl Rpc {
    /// A client if there is a source, else a server.
    pub fn new(sender: Sender, conveyance: Conveyance, answer: u32, timeout: u64) -> Self {
        Rpc { sender, conveyance, answer, timeout, waiting: Deadlines::default() }
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        let token = self.sender.send(cx, self.conveyance);
        self.waiting.insert(token, cx.now.saturating_add(self.timeout), cx.fabric_now);
    }

    /// A request is over; a closed loop asks again.
    fn over(&mut self, cx: &mut Cx<'_>, token: Token) -> bool {
        let known = self.waiting.remove(token);
        if known && self.sender.again(cx.fabric_now) {
            self.ask(cx);
        }
        known
    }
}

impl Protocol for Rpc {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.sender.start(cx.fabric_now);
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        while self.sender.due(cx.fabric_now) {
            self.ask(cx);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.sender.next()
    }

    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        match received.in_reply_to() {
            None => {
                cx.reply(&received, Data::length(self.answer));
            }
            Some(token) => {
                if self.waiting.has(token) {
                    let there = received.payload.label.trail.as_ref().map_or(0, |trail| trail.octets);
                    cx.round_trip(&received, there + received.leg.payload);
                }
                self.over(cx, token);
            }
        }
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        match outcome {
            // The request arrived: the answer will come.
            Outcome::Sent => {}
            Outcome::Answer(answer) => self.received(cx, *answer),
            Outcome::Failed => {
                self.over(cx, token);
            }
        }
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        while let Some(token) = self.waiting.due(cx.now) {
            cx.emit(ProtocolFact::TimedOut);
            cx.late(TimeoutKind::Answer);
            self.over(cx, token);
        }
    }

    fn poll_timeout(&self) -> Option<u64> {
        self.waiting.next()
    }

    fn sources(&self) -> Vec<&Source> {
        self.sender.source().into_iter().collect()
    }

    fn awaited(&self) -> Option<Awaited> {
        Some(self.waiting.awaited())
    }
}
