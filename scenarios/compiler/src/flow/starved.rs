//! Who may get nothing: messages that are refused again and again, and frames of LINX that others pass.

use super::hosts::{Placed, host};
use super::linx::frames;
use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, count};
use models::config::*;
use models::transfer_rate::Software;
use std::collections::{BTreeMap, BTreeSet};

/// Messages under way from one host to another: as many as there are letters.
const LETTERS: usize = 4;

/// What a source creates in a picosecond; without end if it always has something to send. Nothing of one that
/// ends by itself: who is refused gets its turn when the others are done.
fn rate(source: &SourceConfig) -> f64 {
    if source.limit != u64::MAX {
        return 0.0;
    }
    match &source.arrivals {
        Arrivals::Poisson { mean } => 1.0 / mean.0 as f64,
        Arrivals::Bernoulli { slot, numerator, denominator } => {
            *numerator as f64 / (slot.0 as f64 * *denominator as f64)
        }
        Arrivals::Constant { interval, .. } => interval.1 as f64 / interval.0 as f64,
        Arrivals::OnOff { on, off, interval } => {
            on.0 as f64 / ((on.0 as f64 + off.0 as f64) * interval.0 as f64)
        }
        Arrivals::Saturated { .. } => f64::INFINITY,
        Arrivals::Replay(_) => 0.0,
    }
}

/// The one device that a source sends to, or its one hot spot, and the share that goes there.
fn aim(destinations: &Destinations) -> Option<(u32, f64)> {
    match destinations {
        Destinations::Hotspot { hot, numerator, denominator, .. } => match &hot[..] {
            &[id] => Some((id, *numerator as f64 / *denominator as f64)),
            _ => None,
        },
        _ => match destinations.listed()? {
            &[id] => Some((id, 1.0)),
            _ => None,
        },
    }
}

/// What is answered by RETRY where a host has no place.
fn refusable(protocol: &ProtocolConfig) -> bool {
    let carrier = match protocol {
        ProtocolConfig::Workload { carrier } | ProtocolConfig::Rpc { carrier, .. } => carrier,
        ProtocolConfig::Session(node) => return matches!(node.data, SessionData::Message(_)),
        _ => return false,
    };
    matches!(carrier, Carrier::Message { .. } | Carrier::Doorbell { .. })
}

/// Warns of hosts with fewer places than endpoints that ask them for more than they serve. All of these wait
/// for a place, and each comes back a fixed time after it was refused: those that come back when a place has
/// just been taken do so each time. With as many places as senders nobody was seen to starve.
pub(super) fn by_retry(c: &mut Compiler<'_>, parts: &[Placed]) {
    let devices = super::devices(c);
    // Senders to a device, and what they create in a picosecond.
    let mut asked: BTreeMap<usize, (BTreeSet<usize>, f64)> = BTreeMap::new();
    for placed in parts.iter().filter(|placed| placed.node.as_ref().is_some_and(refusable)) {
        let Some(source) = &placed.source else { continue };
        let Some((id, share)) = aim(&source.destinations) else { continue };
        let Some(&device) = devices.get(&id) else { continue };
        let rate = rate(source) * share;
        if rate > 0.0 {
            let (senders, all) = asked.entry(device).or_default();
            senders.insert(placed.device);
            *all += rate;
        }
    }
    for (device, (senders, rate)) in asked {
        let Software { rx, places, .. } = Software::mean(&host(c, device).config);
        let (places, busy) = (places as usize, rate * rx as f64);
        if places >= senders.len() || busy.is_nan() || busy <= 1.0 {
            continue;
        }
        let (name, senders) = (&c.graph.nodes[device].name, senders.len());
        let message = format!(
            "\"{name}\" has {} for messages of {senders} endpoints that send more than it takes: who is \
             refused by RETRY may come back too late each time, and get nothing",
            count(places, "place")
        );
        let at = format!("{}/host/rx_queue", c.devices[device].origin);
        let help = format!("use {senders} places or more, or let them send less than one in a service time");
        c.once(Diagnostic::warning("SC116", at, message).help(help));
    }
}

/// The longest message that a node of LINX sends, in octets.
fn longest(node: &LinxConfig, source: Option<&SourceConfig>) -> Option<u32> {
    let own = source.filter(|source| source.limit > 0).map(|source| match &source.sizes {
        Sizes::Fixed(size) => u32::from(size.payload),
        Sizes::Mix(sizes) => sizes.iter().map(|(_, size)| size.payload).max().unwrap_or(0).into(),
        Sizes::Replay => 0,
    });
    let program = node.program.as_ref().map(|program| u32::try_from(program.longest()).unwrap_or(u32::MAX));
    [own, program, node.reply].into_iter().flatten().max()
}

/// Warns of frames of LINX that so many others pass that the window of the receiver does not reach: because
/// they have a lower priority, or because a host without a place refuses them and takes those behind them.
pub(super) fn of_linx(c: &mut Compiler<'_>, parts: &[Placed]) {
    let nodes = || {
        parts.iter().filter_map(|placed| match &placed.node {
            Some(ProtocolConfig::Linx(node)) => Some((placed, &**node)),
            _ => None,
        })
    };
    let windows: BTreeMap<(u16, u16), (usize, &LinxConfig)> =
        nodes().map(|(placed, node)| ((node.node, node.port), (placed.device, node))).collect();
    let mut found = Vec::new();
    for (placed, node) in nodes() {
        let Some(octets) = longest(node, placed.source.as_ref()) else { continue };
        let peers = || node.peers.iter().filter_map(|&peer| windows.get(&(peer, node.peer_port)));
        let frames = frames(octets, node.mtu).len();
        let Some(window) = peers().map(|(_, peer)| usize::from(peer.options.window)).min() else { continue };
        if frames <= window {
            continue;
        }
        let name = |device: usize| &c.graph.nodes[device].name;
        let (sender, origin) = (name(placed.device), &c.devices[placed.device].origin);
        let (Some(low), Some(high)) = (node.data_priorities.iter().min(), node.data_priorities.iter().max())
        else {
            continue;
        };
        if low < high {
            let message = format!(
                "a message of {octets} octets is {frames} frames of \"{sender}\", and those of priority \
                 {high} pass those of priority {low}: a frame that {window} others pass (\"window\") ends \
                 the connection"
            );
            let help =
                format!("use one priority, a \"window\" of {frames}, longer frames, or shorter messages");
            let at = format!("{origin}/linx/data_priorities");
            found.push(Diagnostic::warning("SC117", at, message).help(help));
        }
        if !matches!(node.carrier, Carrier::Message { .. }) {
            continue;
        }
        let waits = |&&(device, peer): &&(usize, &LinxConfig)| {
            let Software { rx, places, .. } = Software::mean(&host(c, device).config);
            rx > 0 && (places as usize) < LETTERS * peer.peers.len()
        };
        if let Some(&(device, peer)) = peers().find(waits) {
            let (places, under_way) = (host(c, device).config.rx_queue as usize, LETTERS * peer.peers.len());
            let message = format!(
                "\"{}\" has {} for {under_way} frames under way to it: one that is refused by RETRY may come \
                 back too late each time, and a frame that {window} others pass (\"window\") ends the \
                 connection; a message of {octets} octets is {frames} frames",
                name(device),
                count(places, "place")
            );
            let help = format!("use {under_way} places or more, or a \"window\" of {frames}");
            let at = format!("{}/host/rx_queue", c.devices[device].origin);
            found.push(Diagnostic::warning("SC116", at, message).help(help));
        }
    }
    found.into_iter().for_each(|finding| c.once(finding));
}
