//! Hosts to which more frames of Data come at a time than they have places for.

use super::{Pair, enabled_frames};
use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, count};
use crate::units::time_text;
use models::config::{AgentConfig, FabricConfig, ProtocolConfig};
use models::path::Roads;
use models::transfer_rate::Software;
use std::collections::BTreeMap;

/// What comes to a host from connections that begin together.
struct Crowd {
    connections: u64,
    /// Frames that wait for it at a time, at least.
    frames: u64,
    /// All frames of Transfers that are under way together.
    all: u64,
    /// From one to the next, as fast as they come, ps.
    pace: u64,
}

/// Warns of the host that lacks most places for the frames that wait for it.
pub(in crate::flow) fn warn(c: &mut Compiler<'_>, config: &FabricConfig) {
    let mut hosts: BTreeMap<(u32, u64), Crowd> = BTreeMap::new();
    each_pair(config, |pair| {
        // Those that begin at random times may never meet, so each counts alone.
        let begins = pair.end.connect_at.0;
        let others = hosts.entry((pair.to, begins)).or_insert(Crowd {
            connections: 0,
            frames: 0,
            all: 0,
            pace: u64::MAX,
        });
        let own = waiting(&pair);
        if pair.end.spread.0 > 0 {
            if own > others.frames {
                *others = Crowd { connections: 1, frames: own, all: all(&pair), pace: pair.pace() };
            }
            return;
        }
        others.connections += 1;
        others.frames = others.frames.saturating_add(own);
        others.all = others.all.saturating_add(all(&pair));
        others.pace = others.pace.min(pair.pace());
    });
    let software = |device: u32| Software::mean(&super::software::host(c, device as usize).config);
    // All of them come over the last link.
    let come = |device: u32, own: &Crowd| own.frames.min(left(own.all, own.pace, [software(device).rx, 0]));
    let found = hosts.iter().map(|(&(device, _), own)| (device, own.connections, come(device, own)));
    let lacks = |(device, _, frames): &(u32, u64, u64)| frames.saturating_sub(software(*device).places);
    // The first of those that lack most.
    let worst = found.rev().max_by_key(lacks).filter(|found| lacks(found) > 0);
    let Some((device, connections, frames)) = worst else { return };
    let Software { rx, places, .. } = software(device);
    let (name, at) = (&c.graph.nodes[device as usize].name, &c.devices[device as usize].origin);
    let message = format!(
        "{} of Data over {} may wait for the host of \"{name}\" at a time, which takes {} for each, but \
         rx_queue has {}: what finds none is lost, and Transfers may fail",
        count(frames as usize, "frame"),
        count(connections as usize, "connection"),
        time_text(rx),
        count(places as usize, "place"),
    );
    let help =
        "a longer rx_queue, fewer Blocks or operations at a time (window, concurrent), or fewer senders";
    let finding = Diagnostic::warning("SC121", format!("{at}/host/rx_queue"), message);
    c.once(finding.help(help));
}

/// Each pair of ends whose Data comes faster than its host takes it; of large fabrics they are too many to be
/// kept.
fn each_pair<'a>(config: &'a FabricConfig, pair: impl FnMut(Pair<'a>)) {
    let agents = config.agents.iter();
    let ends = agents.flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
    // Of a program nobody knows how much it sends at a time, nor whose turn it is where they wait for it.
    let ends = ends.filter_map(|(agent, part)| match &part.protocol {
        ProtocolConfig::Transfer(end) if end.program.is_none() && end.receives.is_none() => {
            Some((agent, &**end, part.flow))
        }
        _ => None,
    });
    // Hosts that take no time have no queue.
    let slow = |agent: &AgentConfig| Software::mean(&agent.host).rx > 0;
    let slow: BTreeMap<u32, bool> = config.agents.iter().map(|agent| (agent.device, slow(agent))).collect();
    let asked = ends.flat_map(|end| end.1.peers.iter().map(move |&peer| (end, peer)));
    let asked = asked.filter(|(end, peer)| {
        let receiver = match end.1.job.operation.is_read() {
            true => Some(&end.0.device),
            false => config.owners.get(usize::from(*peer)),
        };
        receiver.and_then(|device| slow.get(device)).is_some_and(|slow| *slow)
    });
    let mut asked = asked.peekable();
    if asked.peek().is_none() {
        // Roads know every link of the fabric, which may be many.
        return;
    }
    let roads = Roads::new(config);
    let pairs = asked.filter_map(|(end, peer)| Pair::new(config, &roads, end, peer));
    // Behind a translator nobody knows how fast frames come.
    pairs.filter(|pair| pair.is_direct && pair.is_outpaced()).for_each(pair);
}

/// What is left of frames that come one after the other, when the last of them begins to come. Each is taken
/// in `rx`, as soon as it is there whole, `span` after its beginning.
fn left(frames: u64, pace: u64, [rx, span]: [u64; 2]) -> u64 {
    let last = frames.saturating_sub(1).saturating_mul(pace);
    frames.saturating_sub(last.saturating_sub(span) / rx)
}

/// All frames of the Transfers of a connection that are under way together.
fn all(pair: &Pair<'_>) -> u64 {
    let job = &pair.end.job;
    let together = match job.operation.is_in_region() {
        true => job.count,
        false => job.at_a_time(),
    };
    job.stus(pair.stu).saturating_mul(together)
}

/// Frames that wait for the host of the destination at a time, at least, if it has places for them.
///
/// While frames come, one after the other, it takes some. So many may be on their way at a time: each Block
/// that was taken makes room for another, but its frames come a round trip later, and not all at once. Those
/// of one Block, or of an operation in a region, do come at once.
fn waiting(pair: &Pair<'_>) -> u64 {
    let (way, job, rx) = (&pair.way, &pair.end.job, pair.destination.rx);
    let block = job.unit().div_ceil(pair.stu.into());
    let away = way.round_trip().saturating_add((block - 1).saturating_mul(pair.pace()));
    let enabled = enabled_frames(job, pair.stu);
    // Nobody sends what takes Slots that the other end does not have.
    let at_once = |frames: u64| if job.notify { frames.min(pair.slots.into()) } else { frames };
    let enabled = at_once(enabled);
    let left = |frames: u64| left(frames, pair.pace(), [rx, way.data_span()]);
    let together = left(all(pair)).min(enabled.saturating_sub(away / rx));
    together.max(left(all(pair).min(at_once(block))))
}
