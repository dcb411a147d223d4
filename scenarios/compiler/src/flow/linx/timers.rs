//! Periods of LINX that are over before a heartbeat, or the answer to a request, can be there.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::answers::{Extremes, way};
use crate::flow::messages::{self, Carried};
use crate::flow::transfer::Clock;
use crate::units::time_text;
use models::config::*;
use models::linx_riocm::options::{HB_TMO_DEFAULT, PERIOD_UNIT};
use models::linx_riocm::wire::Kind;
use models::path::Roads;
use models::transfer_rate::Software;
use std::collections::BTreeMap;

/// One end of a connection.
struct End<'a> {
    agent: &'a AgentConfig,
    node: &'a LinxConfig,
    /// Octets of the packets of a heartbeat, of a REQ and of its ACK, without what a link adds.
    heartbeat: Vec<u32>,
    request: Vec<u32>,
    ack: Vec<u32>,
}

/// Where one of all pairs of ends lacks most.
#[derive(Default)]
struct Worst<'a> {
    lack: u64,
    found: Option<([&'a End<'a>; 2], [u64; 2])>,
}

impl<'a> Worst<'a> {
    /// Something takes so long there, within another time.
    fn note(&mut self, ends: [&'a End<'a>; 2], takes: u64, within: u64) {
        let lack = takes.saturating_sub(within);
        if lack > self.lack {
            *self = Self { lack, found: Some((ends, [takes, within])) };
        }
    }
}

/// Warns of connections that cannot last: both ends give each other up before a heartbeat of both can be
/// there. Each waits for the first one from when it came up itself. By how much the end that came up first
/// waits longer, the other one waits less: together it is a way there and a way back. Of all such connections
/// the one that lacks most; and likewise of those of which an end asks again before it can have an answer.
pub(in crate::flow) fn warn(c: &mut Compiler<'_>, config: &FabricConfig) {
    let parts = config.agents.iter().flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
    let nodes = parts.filter_map(|(agent, part)| match &part.protocol {
        ProtocolConfig::Linx(node) => Some(((part.flow, node.node), End::of(agent, node)?)),
        _ => None,
    });
    let ends: BTreeMap<(u16, u16), End<'_>> = nodes.collect();
    if ends.is_empty() {
        return;
    }
    let (extremes, mut roads) = (Extremes::of(config), None);
    let [mut short, mut hasty] = [Worst::default(), Worst::default()];
    for (&(flow, own), end) in &ends {
        for &peer in end.node.peers.iter().filter(|&&peer| peer > own) {
            let Some(other) = ends.get(&(flow, peer)) else { continue };
            let (within, again) = (patience([end, other]), end.asks_again().min(other.asks_again()));
            // Ways are followed only where one can be too long: there are many.
            if extremes.beats([end, other]) > within {
                let roads = roads.get_or_insert_with(|| Roads::new(config));
                if let Some(takes) = beats(roads, [end, other]) {
                    short.note([end, other], takes, within);
                }
            }
            if extremes.answer([end, other]) > again {
                let roads = roads.get_or_insert_with(|| Roads::new(config));
                for pair in [[end, other], [other, end]] {
                    if let Some(takes) = answer(roads, pair) {
                        hasty.note(pair, takes, pair[0].asks_again());
                    }
                }
            }
        }
    }
    if let Some((ends, [takes, again])) = hasty.found {
        let [from, to] = ends.map(|end| &c.graph.nodes[end.agent.device as usize].name);
        let message = format!(
            "\"{from}\" repeats a request for a connection after {}, and the answer of \"{to}\" takes {} at \
             least: ends that do not begin at once can end each other's connections, again and again",
            time_text(again),
            time_text(takes)
        );
        let at = format!("{}/linx/request_period", c.devices[ends[0].agent.device as usize].origin);
        let help = "a longer request_period, less jitter, or faster hosts";
        c.once(Diagnostic::warning("SC118", at, message).help(help));
    }
    let Some((ends, [takes, within])) = short.found else { return };
    let [from, to] = ends.map(|end| &c.graph.nodes[end.agent.device as usize].name);
    let message = format!(
        "a heartbeat from \"{from}\" to \"{to}\" and one back take {} at least, and both ends together wait \
         for {}: no connection lasts",
        time_text(takes),
        time_text(within)
    );
    let at = format!("{}/linx/hb_tmo", c.devices[ends[0].agent.device as usize].origin);
    c.once(Diagnostic::warning("SC118", at, message).help("more periods, longer ones, or faster hosts"));
}

impl<'a> End<'a> {
    fn of(agent: &'a AgentConfig, node: &'a LinxConfig) -> Option<Self> {
        let carried = match node.carrier {
            Carrier::Message { segment, .. } => Carried::Message { segment: segment.into() },
            _ => Carried::Stream { mtu: agent.mtu.octets() as u32 },
        };
        let packets = |kind: Kind| {
            messages::octets_of(messages::packets(carried, kind.header_octets() as u32), agent.ids)
        };
        let [heartbeat, request, ack] = [Kind::Heartbeat, Kind::Request, Kind::Ack].map(packets);
        Some(End { agent, node, heartbeat: heartbeat?, request: request?, ack: ack? })
    }

    /// When it sends a REQ again at the earliest, ps of the fabric.
    fn asks_again(&self) -> u64 {
        let options = &self.node.options;
        let earlier = options.jitter.iter().copied().min().unwrap_or(0).min(0);
        Clock(self.agent.clock).fabric(options.request_period.saturating_add_signed(earlier))
    }
}

impl Extremes {
    /// What a heartbeat of each end takes at most until the other has it, ps.
    fn beats(&self, ends: [&End<'_>; 2]) -> u64 {
        let ways = ends.map(|end| self.way(&end.heartbeat).saturating_add(self.host));
        ways[0].saturating_add(ways[1])
    }

    /// What a REQ of one end and the ACK of the other take at most, in either order, ps.
    fn answer(&self, ends: [&End<'_>; 2]) -> u64 {
        let ways = ends.map(|end| self.way(&end.request).max(self.way(&end.ack)).saturating_add(self.host));
        ways[0].saturating_add(ways[1])
    }
}

/// For how long both ends together wait for a sign of life, ps of the fabric: each for its periods of the
/// longer of both wishes.
fn patience(ends: [&End<'_>; 2]) -> u64 {
    let wishes = ends.map(|end| if end.node.hb_tmo == 0 { HB_TMO_DEFAULT } else { end.node.hb_tmo });
    let period = u64::from(wishes[0].max(wishes[1])) * PERIOD_UNIT;
    let times = ends.map(|end| Clock(end.agent.clock).fabric(period * u64::from(end.node.options.periods)));
    times[0].saturating_add(times[1])
}

/// What these packets take without competition from one end until the other has them, ps.
fn one_way(roads: &Roads<'_>, [from, to]: [&End<'_>; 2], (packets, priority): (&[u32], u8)) -> Option<u64> {
    let links = way(roads, (from.agent.device, u32::from(to.node.node)), priority, packets)?;
    let [own, peer] = [from, to].map(|end| Software::shortest(&end.agent.host));
    Some(links.saturating_add(own.tx).saturating_add(peer.rx))
}

/// What a heartbeat of each end takes without competition until the other has it, ps.
fn beats(roads: &Roads<'_>, [one, other]: [&End<'_>; 2]) -> Option<u64> {
    let beat =
        |from: &End<'_>, to| one_way(roads, [from, to], (&from.heartbeat, from.node.heartbeat_priority));
    Some(beat(one, other)?.saturating_add(beat(other, one)?))
}

/// What a REQ of the first end and the ACK of the other take without competition, ps.
fn answer(roads: &Roads<'_>, [one, other]: [&End<'_>; 2]) -> Option<u64> {
    let there = one_way(roads, [one, other], (&one.request, one.node.connection_priority))?;
    let back = one_way(roads, [other, one], (&other.ack, other.node.connection_priority))?;
    Some(there.saturating_add(back))
}
