//! What the connections of all nodes come to, seen from above: no node could find that out.

use super::super::protocol::Token;
use super::Linx;
use super::ledger::Life;
use crate::observe::stats::LinxTotals;
use linx_riocm::{Link, Phase};
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Looks at all nodes of one flow at `end`. `in_flight`: what is in the fabric or waits for a host, by the id
/// of its sender and its token.
pub(crate) fn audit(
    flow: u16,
    nodes: &[(u32, &Linx)],
    end: u64,
    in_flight: &BTreeSet<(u32, Token)>,
) -> LinxTotals {
    let devices = nodes.iter().map(|node| node.0).collect();
    let mut totals = LinxTotals { flow, nodes: nodes.len() as u32, devices, ..LinxTotals::default() };
    let by_id: BTreeMap<u16, &Linx> = nodes.iter().map(|&(_, node)| (node.config.node, node)).collect();
    let mut last = None;
    let mut firsts: Option<Option<Time>> = None;
    for &(_, node) in nodes {
        totals.stats.add(&node.totals());
        totals.memory += node.node.as_ref().map_or(0, |node| node.octets() as u64);
        for (connection, &peer) in node.config.peers.iter().enumerate() {
            let Some((other, back)) = by_id.get(&peer).and_then(|other| Some((*other, other.to(node)?)))
            else {
                continue;
            };
            let life = &node.ledger.lives[connection];
            // what never came up has no time, and then nor has all of it
            let first = life.first();
            firsts = Some(firsts.map_or(first, |all| Some(all?.max(first?))));
            if let Some(since) = life.since() {
                totals.stats.up_ps += u128::from(end - since.0);
                last = last.max(Some(since));
            }
            let on_its_way = |token: Token| {
                node.sending.contains_key(&token) || in_flight.contains(&(node.config.node.into(), token))
            };
            messages(&mut totals, life, node.is_up(connection), &other.ledger.lives[back], on_its_way);
            if node.config.node > peer {
                continue;
            }
            totals.wanted += 1;
            totals.resetting += u64::from(node.resets(connection)) + u64::from(other.resets(back));
            match (node.link(connection), other.link(back)) {
                (Some(own), Some(theirs)) if agree(&own, &theirs) => totals.up += 1,
                (None, None) => {}
                _ => totals.half_up += 1,
            }
        }
    }
    totals.stats.message_ps.sort_unstable();
    totals.stats.round_trips.sort_unstable();
    totals.all_up = last.filter(|_| totals.up == totals.wanted);
    totals.first_up = firsts.flatten();
    totals
}

/// What became of the messages of one direction: `sender` is the life at the end that sends. The other end
/// may be down: what is not on its way to it then will not come either.
fn messages(
    totals: &mut LinxTotals,
    sender: &Life,
    up: bool,
    receiver: &Life,
    on_its_way: impl Fn(Token) -> bool,
) {
    let sent = sender.sent_before + u64::from(sender.sent);
    let next = if receiver.their_number == sender.number { receiver.their_next } else { 0 };
    let open = if up { next..sender.sent } else { 0..0 };
    let unseen = if up { sender.unseen(next, receiver, on_its_way) } else { BTreeSet::new() };
    let oldest = open.clone().find(|position| !unseen.contains(position));
    totals.oldest = totals.oldest.into_iter().chain(oldest.and_then(|oldest| sender.sent_at(oldest))).min();
    let (open, unseen) = (u64::from(open.end - open.start), unseen.len() as u64);
    totals.unseen += unseen;
    totals.under_way += open - unseen;
    totals.lost += sent - receiver.delivered - receiver.missing - open;
}

fn agree(own: &Link, theirs: &Link) -> bool {
    let mirrored = Link {
        mtu: theirs.mtu,
        hb_tmo: theirs.hb_tmo,
        generation: theirs.peer_generation,
        peer_generation: theirs.generation,
        cid: theirs.peer_cid,
        peer_cid: theirs.cid,
    };
    *own == mirrored
}

impl Linx {
    /// The connection to another node.
    fn to(&self, other: &Linx) -> Option<usize> {
        let fits = (self.config.port, self.config.peer_port) == (other.config.peer_port, other.config.port);
        self.config.peers.binary_search(&other.config.node).ok().filter(|_| fits)
    }

    fn link(&self, connection: usize) -> Option<Link> {
        self.node.as_ref()?.link(self.ids[connection])
    }

    fn is_up(&self, connection: usize) -> bool {
        self.is_in(connection, Phase::Connected)
    }

    fn resets(&self, connection: usize) -> bool {
        self.is_in(connection, Phase::Resetting)
    }

    fn is_in(&self, connection: usize, phase: Phase) -> bool {
        self.node.as_ref().is_some_and(|node| node.phase(self.ids[connection]) == phase)
    }
}
