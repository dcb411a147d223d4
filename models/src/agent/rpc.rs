//! Request and response: the worked example of a protocol on an endpoint.
//!
//! A client asks, a server answers at once, and the client gives up what is not answered in time. Both are
//! the same machine: one instance for each end of the flow. Note what is *not* here: a clock, a fabric, a
//! queue of packets. Everything comes through the five calls of [`Protocol`], and leaves through [`Cx`].

use super::data::Data;
use super::protocol::{Conveyance, Cx, Outcome, Protocol, Received, Token};
use super::workload::Sender;
use crate::observe::probe::ProtocolFact;
use sim_core::Time;
use std::collections::{BTreeMap, VecDeque};

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
    waiting: BTreeMap<Token, u64>,
    /// The same in order: the timeout is the same for all. Answered ones stay until they reach the front.
    order: VecDeque<(u64, Token)>,
}

impl Rpc {
    /// A client if there is a source, else a server.
    pub fn new(sender: Sender, conveyance: Conveyance, answer: u32, timeout: u64) -> Self {
        Rpc { sender, conveyance, answer, timeout, waiting: BTreeMap::new(), order: VecDeque::new() }
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        let token = self.sender.send(cx, self.conveyance);
        let deadline = cx.now.saturating_add(self.timeout);
        self.waiting.insert(token, deadline);
        self.order.push_back((deadline, token));
    }

    /// A request is over; a closed loop asks again.
    fn over(&mut self, cx: &mut Cx<'_>, token: Token) -> bool {
        let known = self.waiting.remove(&token).is_some();
        while self.order.front().is_some_and(|(_, token)| !self.waiting.contains_key(token)) {
            self.order.pop_front();
        }
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
                if self.waiting.contains_key(&token) {
                    cx.round_trip(&received);
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
        while let Some(&(deadline, token)) = self.order.front() {
            if deadline > cx.now {
                break;
            }
            cx.emit(ProtocolFact::TimedOut);
            self.over(cx, token);
        }
    }

    fn poll_timeout(&self) -> Option<u64> {
        self.order.front().map(|&(deadline, _)| deadline)
    }
}
