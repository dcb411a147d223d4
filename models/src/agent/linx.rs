//! LINX connections over RapidIO: a node of [`linx_riocm`] with the fabric as its medium.
//!
//! One frame is one type 11 message or one type 9 PDU. RETRY is the engine's affair; a message that failed is a
//! lost frame, and nobody sends it again. What comes from the source is a message to the peer that it names,
//! dropped while that connection is not up. A connection that ended is connected again after a while.

use super::data::Data;
use super::protocol::{Conveyance, Cx, Outcome, Protocol, Received, Send, Token};
use super::workload::Sender;
use crate::config::LinxConfig;
use crate::probe::ProtocolFact;
use linx_riocm::{Class, Config, ConnectionId, Event, Node, Peer, Reason};
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};

/// All connections of an endpoint.
#[derive(Debug)]
pub(crate) struct Linx {
    node: Node,
    sender: Sender,
    conveyance: Conveyance,
    /// By class: connection, heartbeat, data.
    priorities: [u8; 3],
    reconnect_after: u64,
    peers: BTreeMap<u32, ConnectionId>,
    /// Connects to come, by time.
    connects: BTreeSet<(u64, ConnectionId)>,
    /// What messages are made of.
    octets: Vec<u8>,
}

impl Linx {
    pub fn new(id: u32, sender: Sender, conveyance: Conveyance, config: &LinxConfig) -> Self {
        let device = u16::try_from(id).expect("the compiler allows LINX with ids of up to 16 bits only");
        let settings = Config { device, first_cid: config.first_cid, options: config.options.clone() };
        let mut node = Node::new(settings).expect("the compiler checks the options");
        let (mut peers, mut connects) = (BTreeMap::new(), BTreeSet::new());
        for peer in &config.peers {
            let device = u16::try_from(peer.id).expect("as above");
            let wishes = Peer {
                mtu: config.mtu,
                hb_tmo: config.hb_tmo,
                generation: peer.generation,
                ..Peer::new(device)
            };
            let connection = node.add(wishes).expect("the compiler names each peer once");
            peers.insert(peer.id, connection);
            connects.insert((peer.connect_at, connection));
        }
        let (priorities, reconnect_after) = (config.priorities, config.reconnect_after);
        Linx { node, sender, conveyance, priorities, reconnect_after, peers, connects, octets: Vec::new() }
    }

    /// Sends and tells what the node has to send and to tell.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        while let Some(frame) = self.node.poll_transmit() {
            let class = match frame.class {
                Class::Connection => 0,
                Class::Heartbeat => 1,
                Class::Data => 2,
            };
            cx.send(Send {
                to: u32::from(frame.destination),
                priority: self.priorities[class],
                conveyance: self.conveyance,
                payload: Data::bytes(frame.octets.to_vec()),
            });
        }
        while let Some(event) = self.node.poll_event() {
            match event {
                Event::Connected { .. } => cx.emit(ProtocolFact::Connected),
                Event::Disconnected { connection, reason } => {
                    if reason == Reason::Timeout {
                        cx.emit(ProtocolFact::TimedOut);
                    }
                    cx.emit(ProtocolFact::Disconnected);
                    self.connects.insert((cx.now.saturating_add(self.reconnect_after), connection));
                }
                Event::Deliver { .. } => cx.emit(ProtocolFact::Delivered),
            }
        }
    }
}

impl Protocol for Linx {
    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        if let Some(frame) = received.payload.as_bytes() {
            self.node.handle_frame(cx.now, frame);
        }
        self.drain(cx);
    }

    fn outcome(&mut self, _: &mut Cx<'_>, _: Token, _: Outcome) {}

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        while let Some(&(at, connection)) = self.connects.first()
            && at <= cx.now
        {
            self.connects.pop_first();
            self.node.connect(cx.now, connection);
        }
        self.node.handle_timeout(cx.now);
        self.drain(cx);
    }

    fn poll_timeout(&self) -> Option<u64> {
        let connect = self.connects.first().map(|&(at, _)| at);
        connect.into_iter().chain(self.node.poll_timeout()).min()
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        while self.sender.due(cx.fabric_now) {
            let (to, octets) = self.sender.draw();
            self.octets.resize(octets as usize, 0);
            if let Some(&connection) = self.peers.get(&to) {
                self.node.transmit(cx.now, connection, 0, 0, &self.octets);
            }
        }
        self.drain(cx);
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.sender.next()
    }
}
