//! Supervision that is over before a heartbeat can be there.

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
    /// Octets of the packets of a heartbeat, without what a link adds.
    heartbeat: Vec<u32>,
}

/// Warns of connections that cannot last: both ends give each other up before a heartbeat of both can be
/// there. Each waits for the first one from when it came up itself. By how much the end that came up first
/// waits longer, the other one waits less: together it is a way there and a way back. Of all such connections
/// the one that lacks most.
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
    let mut worst = (0, None);
    for (&(flow, own), end) in &ends {
        for &peer in end.node.peers.iter().filter(|&&peer| peer > own) {
            let Some(other) = ends.get(&(flow, peer)) else { continue };
            let within = patience([end, other]);
            // Ways are followed only where one can be too long: there are many.
            if extremes.beats([end, other]) <= within {
                continue;
            }
            let roads = roads.get_or_insert_with(|| Roads::new(config));
            let Some(takes) = beats(roads, [end, other]) else { continue };
            let lack = takes.saturating_sub(within);
            if lack > worst.0 {
                worst = (lack, Some(([end, other], takes, within)));
            }
        }
    }
    let Some((ends, takes, within)) = worst.1 else { return };
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
        let packets = messages::packets(carried, Kind::Heartbeat.header_octets() as u32);
        Some(End { agent, node, heartbeat: messages::octets_of(packets, agent.ids)? })
    }
}

impl Extremes {
    /// What a heartbeat of each end takes at most until the other has it, ps.
    fn beats(&self, ends: [&End<'_>; 2]) -> u64 {
        let ways = ends.map(|end| self.way(&end.heartbeat).saturating_add(self.host));
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

/// What a heartbeat of each end takes without competition until the other has it, ps.
fn beats(roads: &Roads<'_>, ends: [&End<'_>; 2]) -> Option<u64> {
    let one_way = |from: &End<'_>, to: &End<'_>| {
        let between = (from.agent.device, u32::from(to.node.node));
        let links = way(roads, between, from.node.heartbeat_priority, &from.heartbeat)?;
        let [own, peer] = [from, to].map(|end| Software::shortest(&end.agent.host));
        Some(links.saturating_add(own.tx).saturating_add(peer.rx))
    };
    Some(one_way(ends[0], ends[1])?.saturating_add(one_way(ends[1], ends[0])?))
}
