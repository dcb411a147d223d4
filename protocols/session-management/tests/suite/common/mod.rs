//! A small network for tests: every message takes its time, unless the test loses or delays it.
#![allow(dead_code, reason = "each test takes what it needs")]

use session_management::attribute::{Attribute, Attributes, Conveyance, Kind, List};
use session_management::conduit::Algorithm;
use session_management::endpoint::{Config, Endpoint, Event, MICROSECOND};
use session_management::message::Command;
use session_management::negotiate::Offer;
use session_management::protocol::Protocol;
use session_management::register::Contact;
use std::collections::BTreeMap;

pub const M: u16 = 0x0012;
pub const P: u16 = 0x0034;
pub const MS: u64 = 1_000 * MICROSECOND;

/// What becomes of the n-th message (from 1) with a command from a node.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Lost,
    After(u64),
}

pub fn protocol() -> Protocol {
    Protocol::standard(0x0200).unwrap()
}

pub fn config(node: u16, algorithm: Algorithm) -> Config {
    let mut config = Config::new(node, Contact::Mailbox(2), vec![Offer::plain(protocol())]);
    config.assumed = Some(Contact::Mailbox(2));
    config.algorithm = algorithm;
    config.first_stream = if node == M { 0x1000 } else { 0x2000 };
    config.first_number = u32::from(node) << 16;
    config
}

pub fn ethernet_attributes(mac: u8) -> Attributes {
    [
        Attribute::mtu(1500),
        Attribute::conveyance(Conveyance::mailbox(2)),
        Attribute::mac_address([0, 0xA0, 0x1E, 0, 0, mac]),
    ]
    .into_iter()
    .collect()
}

pub fn ethernet_offer(mac: u8) -> Offer {
    let mut offer = Offer::plain(Protocol::ETHERNET);
    offer.open = ethernet_attributes(mac);
    offer.advertise = [Attribute::mtu(576), Attribute::mtu(9000)]
        .into_iter()
        .chain(ethernet_attributes(mac).list().kinds(0x0102).filter(|a| a.0 != Kind::Mtu).map(|a| a.1))
        .collect();
    offer
}

/// One delivery.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: u64,
    pub from: u16,
    pub to: u16,
    pub octets: Vec<u8>,
}

pub struct Net {
    pub now: u64,
    pub nodes: BTreeMap<u16, Endpoint>,
    pub latency: u64,
    pub fates: BTreeMap<(u16, u8, usize), Fate>,
    pub flight: BTreeMap<(u64, u64), Sent>,
    pub sent: Vec<Sent>,
    pub events: Vec<(u64, u16, Event)>,
    serial: u64,
    counts: BTreeMap<(u16, u8), usize>,
}

impl Net {
    pub fn new(latency: u64, nodes: impl IntoIterator<Item = Config>) -> Self {
        Self {
            now: 0,
            nodes: nodes.into_iter().map(|config| (config.node, Endpoint::new(config))).collect(),
            latency,
            fates: BTreeMap::new(),
            flight: BTreeMap::new(),
            sent: Vec::new(),
            events: Vec::new(),
            serial: 0,
            counts: BTreeMap::new(),
        }
    }

    pub fn pair(latency: u64, algorithm: Algorithm) -> Self {
        Self::new(latency, [config(M, algorithm), config(P, algorithm)])
    }

    pub fn fate(mut self, from: u16, command: Command, nth: usize, fate: Fate) -> Self {
        self.fates.insert((from, command.code(), nth), fate);
        self
    }

    pub fn node(&mut self, node: u16) -> &mut Endpoint {
        self.nodes.get_mut(&node).unwrap()
    }

    /// Puts what the nodes hand out on its way.
    pub fn drain(&mut self) {
        for (&node, endpoint) in &mut self.nodes {
            while let Some(message) = endpoint.poll_transmit() {
                let count = self.counts.entry((node, message.octets[0])).or_default();
                *count += 1;
                let fate = self.fates.get(&(node, message.octets[0], *count));
                let latency = match fate {
                    Some(Fate::Lost) => None,
                    Some(&Fate::After(latency)) => Some(latency),
                    None => Some(self.latency),
                };
                let sent = Sent { at: self.now, from: node, to: message.destination, octets: message.octets };
                self.sent.push(sent.clone());
                if let Some(latency) = latency {
                    self.serial += 1;
                    self.flight.insert((self.now + latency, self.serial), sent);
                }
            }
            while let Some(event) = endpoint.poll_event() {
                self.events.push((self.now, node, event));
            }
        }
    }

    /// The next instant at which something happens.
    pub fn next(&self) -> Option<u64> {
        let arrival = self.flight.first_key_value().map(|((at, _), _)| *at);
        let timers = self.nodes.values().filter_map(Endpoint::poll_timeout);
        arrival.into_iter().chain(timers).min()
    }

    /// Runs up to and including `until`.
    pub fn run(&mut self, until: u64) {
        self.drain();
        while let Some(at) = self.next().filter(|&at| at <= until) {
            self.now = at;
            while let Some(entry) = self.flight.first_entry().filter(|entry| entry.key().0 <= at) {
                let sent = entry.remove();
                if let Some(node) = self.nodes.get_mut(&sent.to) {
                    node.handle_message(at, sent.from, &sent.octets);
                }
                self.drain();
            }
            for endpoint in self.nodes.values_mut() {
                endpoint.handle_timeout(at);
            }
            self.drain();
        }
        self.now = self.now.max(until);
    }

    pub fn count(&self, command: Command) -> usize {
        self.sent.iter().filter(|sent| sent.octets[0] == command.code()).count()
    }

    pub fn messages(&self, from: u16, command: Command) -> Vec<(u64, Vec<u8>)> {
        let mine = self.sent.iter().filter(|sent| sent.from == from && sent.octets[0] == command.code());
        mine.map(|sent| (sent.at, sent.octets.clone())).collect()
    }

    pub fn events_of(&self, node: u16) -> Vec<Event> {
        self.events.iter().filter(|event| event.1 == node).map(|event| event.2.clone()).collect()
    }

    /// When the conduit of a node was complete.
    pub fn complete_at(&self, node: u16) -> Option<u64> {
        let open =
            |event: &&(u64, u16, Event)| event.1 == node && matches!(event.2, Event::ConduitOpen { .. });
        self.events.iter().find(open).map(|event| event.0)
    }
}

/// All attributes of a list.
pub fn attributes(list: List<'_>) -> Vec<Attribute> {
    list.iter().collect()
}
