//! Messages, PDUs and doorbells without a protocol above: what synthetic traffic is to packets.

use super::data::Data;
use super::protocol::{Conveyance, Cx, Outcome, Protocol, Received, Send, Token};
use crate::endpoint::traffic::{Draw, Source};
use sim_core::Time;
use std::collections::VecDeque;

/// Failures that are remembered, the last ones: more than wait at hosts.
const FAILURES: usize = 1 << 10;

/// Sends by an arrival process, and takes what comes.
///
/// A closed loop sends the next when one is over: answered (type 11), gone (type 9), or failed.
#[derive(Debug)]
pub(crate) struct Workload {
    sender: Sender,
    conveyance: Conveyance,
    /// What has failed; some of it may have arrived, and wait for its host.
    failed: VecDeque<Token>,
}

impl Workload {
    /// Without a source it only takes what comes.
    pub fn new(sender: Sender, conveyance: Conveyance) -> Self {
        Workload { sender, conveyance, failed: VecDeque::new() }
    }
}

impl Protocol for Workload {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.sender.start(cx.fabric_now);
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        while self.sender.due(cx.fabric_now) {
            self.sender.send(cx, self.conveyance);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.sender.next()
    }

    fn received(&mut self, _: &mut Cx<'_>, _: Received) {}

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        if matches!(outcome, Outcome::Failed) {
            if self.failed.len() == FAILURES {
                self.failed.pop_front();
            }
            self.failed.push_back(token);
        }
        if self.sender.again(cx.fabric_now) {
            self.sender.send(cx, self.conveyance);
        }
    }

    fn sources(&self) -> Vec<&Source> {
        self.sender.source().into_iter().collect()
    }

    fn given_up(&self) -> Vec<Token> {
        self.failed.iter().copied().collect()
    }
}

/// An arrival process in use: when, how long, where to.
#[derive(Debug)]
pub(crate) struct Sender {
    source: Option<Source>,
    /// Of the first backlog of a closed loop, still to be sent.
    opening: u16,
}

impl Sender {
    pub fn new(source: Option<Source>) -> Self {
        Sender { source, opening: 0 }
    }

    /// What decides it.
    pub fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Nothing is sent before `now`.
    pub fn start(&mut self, now: u64) {
        if let Some(source) = &mut self.source {
            source.not_before(now);
        }
    }

    /// The next instant at which something may be [`due`](Self::due).
    pub fn next(&self) -> Option<Time> {
        let next = self.source.as_ref()?.next;
        (next != u64::MAX).then_some(Time(next))
    }

    /// Whether something is to be sent now.
    pub fn due(&mut self, now: u64) -> bool {
        let Some(source) = &mut self.source else { return false };
        if let Some(backlog) = source.backlog()
            && source.next <= now
        {
            source.opened();
            self.opening = backlog;
        }
        if self.opening > 0 {
            self.opening -= 1;
            return source.may_refill(now);
        }
        source.next <= now
    }

    /// Closed loop: one is over, whether the next may be sent.
    pub fn again(&self, now: u64) -> bool {
        self.source.as_ref().is_some_and(|source| source.backlog().is_some() && source.may_refill(now))
    }

    /// What the source wants to be sent.
    pub fn draw(&mut self) -> Draw {
        self.source.as_mut().expect("who sends has a source").draw()
    }

    /// Sends what the source draws.
    pub fn send(&mut self, cx: &mut Cx<'_>, conveyance: Conveyance) -> Token {
        let draw = self.draw();
        cx.send(Send {
            to: draw.destination,
            priority: draw.priority,
            conveyance,
            payload: Data::length(u32::from(draw.size.payload)),
        })
    }
}
