//! Ethernet beyond two ends of a stream: a segment behind a bridge with its hosts, and a broadcast server.
//!
//! A bridge is the ingress/egress node of the annex as a layer-2 switch: the crate decides what goes where.
//! The segment behind it sends one frame after the other at its rate; its hosts take what is theirs at once.
//! What they send is made by the arrivals of the bridge: it is there at that instant.

use super::application::{Action, Application, FRAME_HEADER, Seat, address, sent_at};
use crate::agent::protocol::Cx;
use crate::config::Outside;
use session_management::endpoint::StreamRef;
use session_management::ethernet::{self, Bridge, Forward, Port, server_relays};
use session_management::protocol::BROADCAST_STREAM;
use sim_core::Time;
use std::collections::BTreeMap;

/// The only port of a bridge to the outside.
const SEGMENT: Port = Port::External(0);
/// Octets of a frame without its payload that lie on the segment: preamble, FCS and gap (IEEE 802.3).
const AROUND: usize = 8 + 4 + 12;
/// Octets of the shortest frame without FCS.
const SHORTEST: usize = 60;

/// An address of Ethernet.
type Address = [u8; 6];

/// What a node knows of Ethernet beyond its streams.
#[derive(Debug, Default)]
pub(super) struct Beyond {
    /// Behind which nodes addresses of hosts were seen.
    learnt: BTreeMap<Address, u16>,
    /// What is behind this node, if it is a bridge.
    segment: Option<Segment>,
}

#[derive(Debug)]
struct Segment {
    outside: Outside,
    bridge: Bridge,
    /// When the last frame has left, fabric time.
    free: u64,
    /// Frames that have not left.
    waiting: u64,
}

impl Segment {
    fn new(outside: Outside) -> Self {
        Self { outside, bridge: Bridge::new(outside.broadcasts), free: 0, waiting: 0 }
    }
}

impl Beyond {
    pub(super) fn new(outside: Option<Outside>) -> Self {
        Self { learnt: BTreeMap::new(), segment: outside.map(Segment::new) }
    }

    /// Frames on their way into the segment.
    pub(super) fn waiting(&self) -> u64 {
        self.segment.as_ref().map_or(0, |segment| segment.waiting)
    }

    /// The node restarts: addresses are forgotten.
    pub(super) fn forget(&mut self) {
        self.learnt.clear();
        if let Some(segment) = &mut self.segment {
            segment.bridge = Bridge::new(segment.outside.broadcasts);
        }
    }

    /// A stream with a node is open: its address came with it (MAC_ADDRESS).
    pub(super) fn meet(&mut self, peer: u16) {
        if let Some(segment) = &mut self.segment {
            segment.bridge.learn(address(peer), Port::Node(peer));
        }
    }
}

/// The address of a host behind a bridge.
fn host(bridge: u16, host: u16) -> Address {
    let ([a, b], [c, d]) = (bridge.to_be_bytes(), host.to_be_bytes());
    [0x02, 1, a, b, c, d]
}

impl Application {
    /// Whether frames go anywhere but along their streams.
    pub(super) fn is_bridged(&self) -> bool {
        self.config.server.is_some() || !self.config.bridges.is_empty()
    }

    /// The address that the next frame to or from an id has: that of the node, or of each host behind it in
    /// turn.
    pub(super) fn address_of(&self, id: u16, turn: u32) -> Address {
        match self.config.bridges.get(&id) {
            Some(outside) => host(id, (turn % u32::from(outside.hosts)) as u16),
            None => address(id),
        }
    }

    /// Whether an address is that of a host behind this node.
    fn is_behind(&self, address: Address) -> bool {
        self.beyond.segment.is_some() && address[..4] == host(self.config.node, 0)[..4]
    }
}

impl Seat<'_> {
    /// A frame of the application leaves; `peer`: the node that it is for, or behind which it is.
    pub(super) fn send_frame(&mut self, cx: &mut Cx<'_>, peer: u16, frame: Vec<u8>) {
        let Some((to, _)) = ethernet::addresses(&frame) else { return };
        if let Some(segment) = &mut self.app.beyond.segment {
            let forward = segment.bridge.forward(SEGMENT, &frame);
            return self.carry(cx, &forward, true, frame);
        }
        let behind = self.app.config.bridges.contains_key(&peer);
        let way = if behind { self.app.beyond.learnt.get(&to).copied() } else { Some(peer) };
        match way.filter(|_| !ethernet::is_group(to)) {
            Some(peer) => self.send_to(cx.now, peer, frame),
            None => {
                self.app.stats.flooded += u64::from(!ethernet::is_group(to));
                self.broadcast(cx.now, frame);
            }
        }
    }

    /// A frame goes where the bridge says; `inward`: it came from the segment, which has no other port.
    fn carry(&mut self, cx: &mut Cx<'_>, forward: &Forward, inward: bool, frame: Vec<u8>) {
        let group = ethernet::addresses(&frame).is_some_and(|(to, _)| ethernet::is_group(to));
        let out = !inward && (forward.external.is_some() || forward.flood);
        if out {
            self.leave_fabric(cx, &frame);
        }
        if let Some(peer) = forward.node {
            self.send_to(cx.now, peer, frame);
        } else if forward.broadcast {
            self.app.stats.flooded += u64::from(!group);
            self.broadcast(cx.now, frame);
        } else if group && !out {
            // That of the segment, or those of all other nodes.
            let copies = if inward { self.app.config.directory.len() as u64 - 1 } else { 1 };
            self.app.stats.filtered += copies;
        }
    }

    /// Sends a frame to everybody: itself, or by the server, on the stream to that.
    fn broadcast(&mut self, now: u64, frame: Vec<u8>) {
        match self.app.config.server.filter(|server| *server != self.app.config.node) {
            Some(server) => self.send_to(now, server, frame),
            None => {
                let sent = self.node.endpoint.broadcast(now, &frame);
                self.sent(sent);
            }
        }
    }

    /// Whether a frame that came on a stream is for the application here. What is not is repeated, goes out
    /// into the segment, or comes to nothing.
    pub(super) fn takes_frame(&mut self, cx: &mut Cx<'_>, stream: StreamRef, frame: &[u8]) -> bool {
        let Some((to, from)) = ethernet::addresses(frame) else { return true };
        let own = address(self.app.config.node);
        if from == own || self.app.is_behind(from) {
            self.app.stats.returned += 1;
            return false;
        }
        // What a server repeats does not say where it came from.
        let repeated = stream.stream == BROADCAST_STREAM
            && self.app.config.server == Some(stream.peer)
            && from != address(stream.peer);
        if let Some(segment) = &mut self.app.beyond.segment {
            let port = match (stream.stream, repeated) {
                (_, true) => Port::Repeated,
                (BROADCAST_STREAM, _) => Port::NodeBroadcast(stream.peer),
                _ => Port::Node(stream.peer),
            };
            let forward = segment.bridge.forward(port, frame);
            self.carry(cx, &forward, false, frame.to_vec());
            return false;
        }
        if self.app.config.server == Some(self.app.config.node) && server_relays(stream.stream) && to != own {
            self.app.stats.repeated += 1;
            let sent = self.node.endpoint.broadcast(cx.now, frame);
            self.sent(sent);
        }
        if !repeated && !self.app.config.bridges.is_empty() {
            self.app.beyond.learnt.insert(from, stream.peer);
        }
        let mine = ethernet::is_group(to) || to == own;
        self.app.stats.foreign += u64::from(!mine);
        mine
    }

    /// A frame waits for its turn on the segment.
    fn leave_fabric(&mut self, cx: &mut Cx<'_>, frame: &[u8]) {
        let Some(segment) = &mut self.app.beyond.segment else { return };
        let bits = 8 * (frame.len().max(SHORTEST) + AROUND) as u128;
        let time = (bits * 1_000_000_000_000).div_ceil(u128::from(segment.outside.rate)) as u64;
        segment.free = segment.free.max(cx.fabric_now) + time;
        segment.waiting += 1;
        let free = segment.free;
        self.app.plan(free, Action::Left(frame.to_vec()));
    }

    /// A frame has left into the segment: who it is for has it.
    pub(super) fn left_fabric(&mut self, cx: &mut Cx<'_>, frame: &[u8]) {
        if let Some(segment) = &mut self.app.beyond.segment {
            segment.waiting -= 1;
        }
        let Some((to, _)) = ethernet::addresses(frame) else { return };
        if ethernet::is_group(to) || self.app.is_behind(to) {
            self.app.stats.left_fabric += 1;
            let sent = sent_at(frame, FRAME_HEADER);
            let now = Time(cx.fabric_now);
            let counts = self.count(now, self.app.config.node, frame, FRAME_HEADER);
            self.done_with(cx, sent.filter(|_| counts));
        } else {
            self.app.stats.foreign += 1;
        }
    }
}
