//! Conduits, records and streams over time: every node keeps what it had at the instants of a census, and who
//! sees all of them counts when the run is over.
//!
//! A census makes no event. What a node had at an instant is what it had before the first thing that happened
//! to it later, so it is kept then; between two things that happen nothing changes.

use super::Node;
use super::application::Application;
use super::audit::End;
use crate::config::Wanted;
use crate::observe::stats::SessionCount;
use session_management::conduit::{Record, Side};
use session_management::endpoint::StreamRef;
use session_management::protocol::NO_STREAM;
use sim_core::{Duration, Time};
use std::collections::BTreeSet;

/// What a node has at an instant.
#[derive(Clone, Debug, Default)]
struct Holding {
    /// Records of conduits: peer, receive stream, transmit stream.
    records: Vec<(u16, u16, u16)>,
    /// Open streams.
    streams: Vec<StreamRef>,
    /// StreamIDs that it has handed out so far.
    allocated: u64,
    /// Octets of management messages that it has sent so far.
    octets: u64,
}

/// What a node keeps for the census.
#[derive(Clone, Debug)]
pub(super) struct Census {
    every: u64,
    /// Number of the first instant for which nothing is kept yet.
    next: u64,
    /// What it had, by the number of the instant; later instants had the same up to the next entry.
    kept: Vec<(u64, Holding)>,
}

impl Census {
    pub(super) fn new(every: Duration) -> Self {
        Self { every: every.0, next: 1, kept: Vec::new() }
    }

    /// What it had at an instant; `None`: what it has now.
    fn at(&self, number: u64) -> Option<&Holding> {
        if number >= self.next {
            return None;
        }
        let after = self.kept.partition_point(|(kept, _)| *kept <= number);
        self.kept.get(after.checked_sub(1)?).map(|(_, holding)| holding)
    }
}

impl Application {
    /// Something is about to happen at `now`: keeps what there is, if a census was in the meantime.
    pub(super) fn keep_for_census(&mut self, node: &Node, now: u64) {
        let Some(census) = &self.census else { return };
        if census.next * census.every >= now {
            return;
        }
        let holding = self.holding(node);
        if let Some(census) = &mut self.census {
            census.kept.push((census.next, holding));
            census.next = now.div_ceil(census.every);
        }
    }

    fn holding(&self, node: &Node) -> Holding {
        let spoken = self.spoken();
        let record = |peer: u16| move |record: &Record| (peer, record.receive, record.transmit);
        let conduits = node.endpoint.conduits().filter(|(_, protocol, _)| *protocol == spoken);
        let streams = node.endpoint.streams().filter(|(_, protocol)| *protocol == spoken);
        Holding {
            records: conduits.flat_map(|(peer, _, records)| records.iter().map(record(peer))).collect(),
            streams: streams.map(|(stream, _)| stream).collect(),
            allocated: self.stats.allocated,
            octets: self.stats.management_octets,
        }
    }
}

/// Counts at every instant of the census up to `end`.
pub(super) fn count(nodes: &[End<'_>], end: u64) -> Vec<SessionCount> {
    let Some(every) = nodes.iter().find_map(|end| end.app.census.as_ref()).map(|census| census.every) else {
        return Vec::new();
    };
    let last: Vec<Holding> = nodes.iter().map(|end| end.app.holding(end.node)).collect();
    let at = |number: u64| {
        let holdings = nodes.iter().zip(&last).map(|(end, last)| {
            let kept = end.app.census.as_ref().and_then(|census| census.at(number));
            (end.app.config.node, end.app.config.wanted, kept.unwrap_or(last))
        });
        count_one(Time(number * every), &holdings.collect::<Vec<_>>())
    };
    (1..=end / every).map(at).collect()
}

fn count_one(at: Time, holdings: &[(u16, Wanted, &Holding)]) -> SessionCount {
    let whole = |&&(_, receive, transmit): &&(u16, u16, u16)| receive != NO_STREAM && transmit != NO_STREAM;
    // Whole records, as the other end would have to have them: whose, of whom, what they receive and send on.
    let all: BTreeSet<(u16, u16, u16, u16)> = holdings
        .iter()
        .flat_map(|(own, _, holding)| {
            let records = holding.records.iter().filter(whole);
            records.map(|&(peer, receive, transmit)| (*own, peer, receive, transmit))
        })
        .collect();
    let sent: BTreeSet<(u16, u16, u16)> = holdings
        .iter()
        .flat_map(|(own, _, holding)| {
            let transmit = holding.streams.iter().filter(|stream| stream.side == Side::Transmit);
            transmit.map(|stream| (*own, stream.peer, stream.stream))
        })
        .collect();
    let mut count = SessionCount { at, ..SessionCount::default() };
    let mut ends = 0;
    for (own, wanted, holding) in holdings {
        let mut kept = BTreeSet::new();
        for &(peer, receive, transmit) in &holding.records {
            count.records += 1;
            if receive == NO_STREAM || transmit == NO_STREAM {
                count.half_open += 1;
            } else if all.contains(&(peer, *own, transmit, receive)) {
                kept.insert((peer, receive));
                ends += 1;
            } else {
                count.orphans += 1;
            }
        }
        for stream in holding.streams.iter().filter(|stream| stream.side == Side::Receive) {
            // Where no conduits are wanted, a stream is of use as long as its source has it.
            let used = kept.contains(&(stream.peer, stream.stream))
                || matches!(wanted, Wanted::Streams(_)) && sent.contains(&(stream.peer, *own, stream.stream));
            count.streams += 1;
            count.leaked += u64::from(!used);
        }
        count.allocated += holding.allocated;
        count.octets += holding.octets;
    }
    count.conduits = ends / 2;
    count
}
