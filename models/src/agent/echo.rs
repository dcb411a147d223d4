//! Echo: what one end sends the other sends back at once, and the first one's clock says how long that took.
//!
//! It is small on purpose: a protocol with its settings, its machine and its totals, all of which no other
//! file knows. It measures what a request costs from one program to another and back, hosts included.

use super::deadlines::Deadlines;
use super::machine::{Plugged, conveyance};
use super::protocol::{Awaited, Conveyance, Cx, Ends, Outcome, Protocol, Received, Token};
use super::workload::Sender;
use crate::config::{Carrier, ProtocolSettings};
use crate::endpoint::traffic::Source;
use crate::observe::probe::{ProtocolFact, TimeoutKind};
use crate::observe::totals::{FlowTotals, Totals};
use sim_core::Time;

/// Settings of an end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EchoConfig {
    /// What carries messages both ways.
    pub carrier: Carrier,
    /// What has not come back by then is lost. Picoseconds of the protocol clock.
    pub timeout: u64,
}

impl ProtocolSettings for EchoConfig {}

/// What ends counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EchoStats {
    /// Sent by those that measure.
    pub sent: u64,
    /// Sent back by the others.
    pub echoed: u64,
    /// Back in time.
    pub returned: u64,
    /// Not conveyed, or not back in time.
    pub lost: u64,
    /// Of the lost, back later.
    pub late: u64,
    /// Octets that came back in time.
    pub octets: u64,
    /// Times from sending to what came back in time, ps of the fabric.
    pub times: Vec<u64>,
}

/// What the ends of a flow of echoes have come to at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EchoTotals {
    /// Flow.
    pub flow: u16,
    /// Sent, and neither back nor lost.
    pub under_way: u64,
    /// What the ends counted; times in rising order.
    pub stats: EchoStats,
}

impl FlowTotals for EchoTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}

/// One end.
#[derive(Debug)]
pub(crate) struct Echo {
    sender: Sender,
    conveyance: Conveyance,
    timeout: u64,
    waiting: Deadlines,
    stats: EchoStats,
}

impl Plugged for Echo {
    type Settings = EchoConfig;

    fn new(settings: &EchoConfig, sender: Sender) -> Self {
        let &EchoConfig { carrier, timeout } = settings;
        let (waiting, stats) = (Deadlines::default(), EchoStats::default());
        Echo { sender, conveyance: conveyance(carrier), timeout, waiting, stats }
    }
}

impl Echo {
    fn send(&mut self, cx: &mut Cx<'_>) {
        let token = self.sender.send(cx, self.conveyance);
        self.waiting.insert(token, cx.now.saturating_add(self.timeout), cx.fabric_now);
        self.stats.sent += 1;
    }

    /// Waits for it no longer, and a closed loop sends the next. Whether it was waited for.
    fn over(&mut self, cx: &mut Cx<'_>, token: Token) -> bool {
        let known = self.waiting.remove(token);
        if known && self.sender.again(cx.fabric_now) {
            self.send(cx);
        }
        known
    }

    fn lose(&mut self, cx: &mut Cx<'_>, token: Token) {
        self.stats.lost += u64::from(self.over(cx, token));
    }

    fn came_back(&mut self, cx: &mut Cx<'_>, token: Token, received: &Received) {
        let Some(trail) = &received.payload.label.trail else { return };
        let (time, octets) = (cx.fabric_now - trail.created, received.leg.payload);
        if self.waiting.has(token) {
            cx.round_trip(received, octets);
            self.stats.returned += 1;
            self.stats.octets += u64::from(octets);
            self.stats.times.push(time);
        } else {
            self.stats.late += 1;
        }
        self.over(cx, token);
    }
}

impl Protocol for Echo {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.sender.start(cx.fabric_now);
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        while self.sender.due(cx.fabric_now) {
            self.send(cx);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.sender.next()
    }

    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        match received.in_reply_to() {
            Some(token) => self.came_back(cx, token, &received),
            None => {
                cx.reply(&received, received.payload.clone());
                self.stats.echoed += 1;
            }
        }
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        // What was sent is there: it will come back. An end does not wait for what it sends back.
        if matches!(outcome, Outcome::Failed) {
            self.lose(cx, token);
        }
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        while let Some(token) = self.waiting.due(cx.now) {
            cx.emit(ProtocolFact::TimedOut);
            cx.late(TimeoutKind::Answer);
            self.lose(cx, token);
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

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let mut sum = EchoTotals { flow: ends.flow, ..EchoTotals::default() };
        for (_, Echo { waiting, stats, .. }) in ends.nodes() {
            sum.under_way += waiting.len();
            sum.stats.sent += stats.sent;
            sum.stats.echoed += stats.echoed;
            sum.stats.returned += stats.returned;
            sum.stats.lost += stats.lost;
            sum.stats.late += stats.late;
            sum.stats.octets += stats.octets;
            sum.stats.times.extend_from_slice(&stats.times);
        }
        sum.stats.times.sort_unstable();
        totals.push(sum);
    }
}
