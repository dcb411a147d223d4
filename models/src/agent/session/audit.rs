//! What the conduits of all nodes come to, seen from above: no node could find that out.

use super::application::Application;
use super::{Node, census};
use crate::agent::courier;
use crate::agent::protocol::Aboard;
use crate::config::{SessionProtocol, Wanted};
use crate::observe::stats::{ConduitEnd, SessionTotals};
use session_management::conduit::{Record, Side};
use session_management::endpoint::StreamRef;
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};

/// One end of a flow: the application at its node.
#[derive(Copy, Clone)]
pub(super) struct End<'a> {
    pub device: u32,
    pub node: &'a Node,
    pub app: &'a Application,
}

/// Looks at all ends of one flow, by device. `aboard`: what is on its way. And how many messages of a program
/// have something of them under way.
pub(super) fn audit(flow: u16, end: u64, nodes: &[End<'_>], aboard: &[Aboard]) -> (SessionTotals, u64) {
    let mut totals = SessionTotals { flow, nodes: nodes.len() as u32, ..SessionTotals::default() };
    let by_id: BTreeMap<u16, &End<'_>> = nodes.iter().map(|end| (end.app.config.node, end)).collect();
    let (mut expected, mut ever) = (BTreeSet::new(), BTreeSet::new());
    for &End { node, app, .. } in nodes {
        totals.stats.add(&app.totals(node));
        totals.multicast |=
            matches!(app.config.protocol, SessionProtocol::Ethernet { multicast: Some(_), .. });
        totals.bridged |= app.is_bridged();
        totals.unopened |= matches!(app.config.wanted, Wanted::Nothing(_));
        let own = app.config.node;
        totals.on_both |= app.config.directory[&own].second.is_some();
        for peer in app.config.creates.iter().flat_map(|creates| creates.peers.iter()) {
            let peer = *peer as u16;
            let closed = app.closed.contains(&peer);
            if app.config.wanted == Wanted::Conduits {
                ever.insert((own.min(peer), own.max(peer)));
            }
            match app.config.wanted {
                _ if closed => totals.closed += 1,
                Wanted::Conduits => {
                    expected.insert((own.min(peer), own.max(peer)));
                }
                Wanted::Streams(each) => totals.wanted_streams += u64::from(each),
                Wanted::Nothing(_) => {}
            }
        }
    }
    totals.stats.pdu_ps.sort_unstable();
    totals.expected = expected.len() as u64;
    let mut matched: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    for &End { device, node, app } in nodes {
        let (own, spoken) = (app.config.node, app.spoken());
        let mut kept: BTreeSet<(u16, u16)> = BTreeSet::new();
        let conduits = node.endpoint.conduits().filter(|(_, protocol, _)| *protocol == spoken);
        for (peer, protocol, records) in conduits {
            let other = by_id.get(&peer).map_or(&[][..], |peer| peer.node.endpoint.records(own, protocol));
            let theirs: BTreeSet<(u16, u16)> = other
                .iter()
                .filter(|other| other.is_whole())
                .map(|other| (other.transmit, other.receive))
                .collect();
            for record in records {
                let fits = record.is_whole() && theirs.contains(&(record.receive, record.transmit));
                count(&mut totals, record, fits);
                let opened = app.open.get(&peer).map(|open| Time(open.since));
                totals.ends.push(ConduitEnd {
                    device,
                    peer,
                    receive: record.receive,
                    transmit: record.transmit,
                    matched: fits,
                    opened,
                });
                if fits {
                    kept.insert((peer, record.receive));
                    *matched.entry((own, peer)).or_default() += 1;
                }
            }
        }
        let mut leaked = 0;
        let mut from: BTreeMap<u16, u64> = BTreeMap::new();
        let streams = node.endpoint.streams().filter(|(_, protocol)| *protocol == spoken);
        for (stream, _) in streams.filter(|(stream, _)| stream.side == Side::Receive) {
            *from.entry(stream.peer).or_default() += 1;
            let other = by_id.get(&stream.peer).map(|peer| &peer.node.endpoint);
            let sends = other.is_some_and(|peer| peer.is_open(StreamRef::transmit(own, stream.stream)));
            match app.config.wanted {
                _ if kept.contains(&(stream.peer, stream.stream)) => {}
                Wanted::Streams(_) if sends => totals.streams += 1,
                _ => leaked += 1,
            }
        }
        totals.leaked += leaked;
        totals.taken += from.values().sum::<u64>();
        let most = from.into_values().max().unwrap_or(0);
        if most > totals.most_from_one.0 {
            totals.most_from_one = (most, app.config.stream_limit.into());
        }
        totals.by_node.push((device, leaked, app.stats.allocated));
    }
    let both = matched.iter().filter(|((a, b), _)| a < b);
    for ((a, b), &count) in both {
        let pairs = count.min(matched.get(&(*b, *a)).copied().unwrap_or(0));
        totals.pairs += pairs;
        totals.duplicates += pairs.saturating_sub(1);
    }
    totals.census = census::count(nodes, end);
    if totals.duplicates + totals.half_open + totals.orphans == 0 {
        totals.all_open = all_open(&expected, &matched, &by_id);
        totals.first_open = first_open(&ever, &by_id);
    }
    let messages = on_their_way(&mut totals, nodes, aboard);
    (totals, messages)
}

/// PDUs that are on their way, each once, whatever there is of it: those that have come are not, and those of
/// which a part still waits for its turn are among those that wait. And messages of a program of which a PDU
/// waits or is on its way.
fn on_their_way(totals: &mut SessionTotals, nodes: &[End<'_>], aboard: &[Aboard]) -> u64 {
    let mut pdus: BTreeMap<(u32, u32), Option<Time>> = BTreeMap::new();
    for &Aboard { from, pdu, asked } in aboard {
        pdus.insert((from, pdu), Some(Time(asked)));
    }
    let mut messages = BTreeSet::new();
    for End { node, app, .. } in nodes {
        let own = u32::from(app.config.node);
        pdus.extend(app.held().map(|part| ((own, part.pdu), part.sent)));
        for part in app.launcher.begun() {
            pdus.remove(&(own, part.pdu));
            messages.extend(app.launcher.message_of(part.pdu));
        }
        if app.courier.is_some() {
            messages.extend(app.unsent(node).filter_map(courier::message));
        }
    }
    for End { app, .. } in nodes {
        for (from, pdu) in app.came() {
            pdus.remove(&(from.into(), pdu));
        }
    }
    let senders: BTreeMap<u32, &Application> =
        nodes.iter().map(|end| (end.app.config.node.into(), end.app)).collect();
    let of_programs = pdus.keys().filter_map(|&(from, pdu)| senders.get(&from)?.launcher.message_of(pdu));
    messages.extend(of_programs);
    totals.on_their_way = pdus.len() as u64;
    totals.oldest_on_its_way = pdus.into_values().flatten().min();
    messages.len() as u64
}

fn count(totals: &mut SessionTotals, record: &Record, fits: bool) {
    totals.records += 1;
    if !record.is_whole() {
        totals.half_open += 1;
    } else if !fits {
        totals.orphans += 1;
    }
}

/// When the last end of the conduits that were wanted was open, if all are.
fn all_open(
    expected: &BTreeSet<(u16, u16)>,
    matched: &BTreeMap<(u16, u16), u64>,
    by_id: &BTreeMap<u16, &End<'_>>,
) -> Option<Time> {
    let mut last = None;
    for &(a, b) in expected {
        for (own, peer) in [(a, b), (b, a)] {
            matched.get(&(own, peer))?;
            let since = by_id.get(&own)?.app.open.get(&peer)?.since;
            last = last.max(Some(Time(since)));
        }
    }
    last
}

/// When each end of the conduits that were ever wanted had been open, if each was.
fn first_open(ever: &BTreeSet<(u16, u16)>, by_id: &BTreeMap<u16, &End<'_>>) -> Option<Time> {
    let mut last = None;
    for &(a, b) in ever {
        for (own, peer) in [(a, b), (b, a)] {
            let first = *by_id.get(&own)?.app.first.get(&peer)?;
            last = last.max(Some(Time(first)));
        }
    }
    last
}
