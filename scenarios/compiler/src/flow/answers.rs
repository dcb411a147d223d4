//! Times that are over before an answer can be there: of requests and echoes, and of packets to which a
//! response belongs.

use super::messages::{self, Carried};
use super::session::timers::OPEN;
use super::transfer::Clock;
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::units::time_text;
use models::agent::echo::EchoConfig;
use models::config::*;
use models::linx_riocm::wire::Kind;
use models::lp_serial::cost::{AddressSize, PacketClass, packet_bytes};
use models::path::Roads;
use models::session_management::register::Contact;
use models::transfer_rate::Software;
use std::collections::{BTreeMap, BTreeSet};

/// An end that asks.
struct Client<'a> {
    agent: &'a AgentConfig,
    /// Its flow.
    name: &'a str,
    source: &'a SourceConfig,
    carrier: Carrier,
    /// Of a request or an echo.
    wait: Option<Wait>,
}

/// What an end waits for.
#[derive(Copy, Clone)]
struct Wait {
    /// What it is called, and the key of its time.
    names: [&'static str; 2],
    /// Octets of the answer. `None`: as many as were sent.
    answer: Option<u32>,
    /// By the protocol clock, ps.
    timeout: u64,
}

/// What is asked, and how long the answer is waited for.
struct Question {
    /// In words, between the ends and the time.
    words: [String; 2],
    /// Where the time is set.
    at: String,
    exchange: Exchange,
    /// Ps of the fabric.
    within: u64,
}

/// What is sent, and what comes back.
pub(super) struct Exchange {
    /// Octets of packets without what a link adds, in order.
    pub packets: Vec<u32>,
    pub answer: Vec<u32>,
    /// Octets of what hardware answers to the last packet, before the answer of a host can leave.
    pub response: Option<u32>,
    /// Hosts that it passes.
    pub hosts: Hosts,
}

/// Whose services a question and its answer take.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Of both ends, each for what goes out and for what comes in.
    Both,
    /// Of the end that asks: hardware answers.
    Asking,
    /// Time begins when the packet is handed to the port.
    Nobody,
}

impl<'a> Client<'a> {
    fn of(config: &'a FabricConfig, agent: &'a AgentConfig, part: &'a PartConfig) -> Option<Self> {
        let source = part.source.as_ref().filter(|source| source.limit > 0)?;
        let (carrier, wait) = match &part.protocol {
            ProtocolConfig::Workload { carrier } => (*carrier, None),
            ProtocolConfig::Rpc { carrier, answer, timeout } => {
                let wait = Wait { names: ["a request", "rpc"], answer: Some(*answer), timeout: *timeout };
                (*carrier, Some(wait))
            }
            other => {
                let echo: &EchoConfig = other.plugged()?;
                let wait = Wait { names: ["an echo", "echo"], answer: None, timeout: echo.timeout };
                (echo.carrier, Some(wait))
            }
        };
        let name = &config.flows.get(usize::from(part.flow))?.name;
        Some(Client { agent, name, source, carrier, wait })
    }

    /// How its messages are cut. `None`: a doorbell, which carries nothing.
    fn carried(&self) -> Option<Carried> {
        Some(match self.carrier {
            Carrier::Message { segment, .. } => Carried::Message { segment: segment.into() },
            Carrier::Stream { .. } => Carried::Stream { mtu: self.agent.mtu.octets() as u32 },
            Carrier::Read => Carried::Read,
            Carrier::Write => Carried::Write,
            Carrier::Doorbell { .. } => return None,
        })
    }

    /// Lengths of what it sends, in octets.
    fn lengths(&self) -> BTreeSet<u32> {
        match &self.source.sizes {
            Sizes::Fixed(size) => [size.payload.into()].into(),
            Sizes::Mix(sizes) => sizes.iter().map(|(_, size)| size.payload.into()).collect(),
            Sizes::Replay => BTreeSet::new(),
        }
    }

    /// Octets of the packets of a message or request without what a link adds, in order.
    fn packets(&self, octets: u32) -> Option<Vec<u32>> {
        let all = match self.carried() {
            Some(kind) => messages::packets(kind, octets),
            None => vec![(1, PacketClass::Doorbell, 0)],
        };
        messages::octets_of(all, self.agent.ids)
    }

    fn wire(&self, class: PacketClass, payload: u32) -> Option<u32> {
        packet_bytes(class, self.agent.ids, payload, AddressSize::Bits34).ok()
    }

    /// Octets of a response to one of its packets. `None`: there is none.
    fn response(&self) -> Option<u32> {
        let data = match (self.carrier, self.wait) {
            (Carrier::Stream { .. }, _) => return None,
            (Carrier::Read, Some(Wait { answer: Some(octets), .. })) => octets.next_multiple_of(8),
            _ => 0,
        };
        self.wire(PacketClass::Response, data)
    }

    /// All that it asks.
    fn asked(&self, c: &Compiler<'_>) -> Vec<Asked<'a>> {
        let Client { agent, source, .. } = *self;
        let questions = self.lengths().into_iter().flat_map(|octets| self.questions(c, octets));
        let asked = |question| Asked {
            agent,
            priority: source.priority,
            to: To::Destinations(&source.destinations),
            question,
        };
        questions.map(asked).collect()
    }

    /// What is waited for where so many octets are sent.
    fn questions(&self, c: &Compiler<'_>, octets: u32) -> Vec<Question> {
        let Some(packets) = self.packets(octets) else { return Vec::new() };
        let clock = Clock(self.agent.clock);
        let response = self.response().map(|response| vec![response]);
        let is_access = matches!(self.carrier, Carrier::Read | Carrier::Write);
        let reply = self.wait.and_then(|Wait { names: [name, key], answer, timeout }| {
            let flow = c.spec.traffic.iter().position(|flow| flow.name == self.name)?;
            Some(Question {
                words: [format!("{name} of {octets} octets"), "is given up".into()],
                at: format!("/traffic/{flow}/{key}/timeout"),
                exchange: Exchange {
                    packets: packets.clone(),
                    answer: if is_access {
                        response.clone()?
                    } else {
                        self.packets(answer.unwrap_or(octets))?
                    },
                    response: response.as_ref().filter(|_| !is_access).map(|response| response[0]),
                    hosts: if is_access { Hosts::Asking } else { Hosts::Both },
                },
                within: clock.fabric(timeout),
            })
        });
        let words = [format!("a message or request of {octets} octets"), "counts as lost".into()];
        let single = response.map(|answer| unanswered(c, self.agent, words, packets, answer));
        reply.into_iter().chain(single).collect()
    }
}

/// Packets of which each has a response, by hardware.
fn unanswered(
    c: &Compiler<'_>,
    agent: &AgentConfig,
    words: [String; 2],
    packets: Vec<u32>,
    answer: Vec<u32>,
) -> Question {
    Question {
        words,
        at: format!("{}/host/response_timeout", c.devices[agent.device as usize].origin),
        exchange: Exchange { packets, answer, response: None, hosts: Hosts::Nobody },
        within: Clock(agent.clock).fabric(agent.response_timeout),
    }
}

/// What the nodes of LINX and of session management send each other in messages of type 11: the shortest, and
/// without them there is no connection and no conduit.
fn of_protocols<'a>(
    c: &Compiler<'_>,
    agent: &'a AgentConfig,
    protocol: &'a ProtocolConfig,
) -> Option<Asked<'a>> {
    let (what, octets, segment, priority, to) = match protocol {
        ProtocolConfig::Linx(node) => {
            let Carrier::Message { segment, .. } = node.carrier else { return None };
            let octets = Kind::Request.header_octets() as u32;
            ("a CONN_REQ", octets, segment, node.connection_priority, To::Linx(&node.peers))
        }
        ProtocolConfig::Session(node) => ("an OPEN", OPEN, node.segment, node.priority, To::Conduits(node)),
        _ => return None,
    };
    let packets = messages::packets(Carried::Message { segment: segment.into() }, octets);
    let packets = messages::octets_of(packets, agent.ids)?;
    let answer = messages::octets_of(vec![(1, PacketClass::Response, 0)], agent.ids)?;
    let words = [format!("{what} of {octets} octets"), "counts as lost".into()];
    let question = unanswered(c, agent, words, packets, answer);
    Some(Asked { agent, priority, to, question })
}

/// To whom a question goes.
enum To<'a> {
    Destinations(&'a Destinations),
    Linx(&'a [u16]),
    /// To those that take management messages in a mailbox.
    Conduits(&'a SessionConfig),
}

impl To<'_> {
    fn ids(&self) -> Vec<u32> {
        match self {
            To::Destinations(destinations) => destinations.ids().collect(),
            To::Linx(peers) => peers.iter().map(|peer| u32::from(*peer)).collect(),
            To::Conduits(node) => {
                let in_messages = |peer: &u32| {
                    let peer = u16::try_from(*peer).ok().and_then(|peer| node.directory.get(&peer));
                    peer.is_some_and(|peer| matches!(peer.contact, Contact::Mailbox(_)))
                };
                let peers = node.creates.iter().flat_map(|creates| creates.peers.iter().copied());
                peers.filter(in_messages).collect()
            }
        }
    }
}

/// A question and to whom it goes.
struct Asked<'a> {
    agent: &'a AgentConfig,
    priority: u8,
    to: To<'a>,
    question: Question,
}

impl Exchange {
    /// Who answers at an id, and how long both ways take without competition, ps. `asks`: device and id.
    pub fn takes(
        &self,
        (config, roads): (&FabricConfig, &Roads<'_>),
        (device, own): (u32, u32),
        priority: u8,
        id: u32,
    ) -> Option<(u32, u64)> {
        let answers = *config.owners.get(id as usize)?;
        let there = way(roads, (device, id), priority, &self.packets)?;
        let software = |device: u32| roads.agent(device).map(|agent| Software::shortest(&agent.host));
        let both = |device: u32| software(device).map_or(0, |own| own.rx.saturating_add(own.tx));
        let (asking, answering) = match self.hosts {
            Hosts::Both => (both(device), both(answers)),
            Hosts::Asking => (software(device).map_or(0, |own| own.tx), 0),
            Hosts::Nobody => (0, 0),
        };
        // An answer leaves when its host has it, and behind what hardware answered when the question came.
        let path = roads.path(answers, own)?.at(priority + 1);
        let packets: Vec<u32> = self.response.iter().chain(&self.answer).copied().collect();
        let mut times = vec![answering; packets.len()];
        if self.response.is_some() {
            times[0] = 0;
        }
        path.pass(&packets, &mut times);
        let back = times.last().copied().unwrap_or(answering);
        Some((answers, there.saturating_add(back).saturating_add(asking)))
    }
}

/// How long packets take from a device to an id without competition, ps.
pub(super) fn way(roads: &Roads<'_>, (from, to): (u32, u32), priority: u8, packets: &[u32]) -> Option<u64> {
    Some(roads.path(from, to)?.at(priority).latency(packets))
}

/// What is over too early, in words: what it is and how it ends, between which devices, how long it takes,
/// and after which time it ends.
fn too_early(
    c: &Compiler<'_>,
    [what, ends]: [&str; 2],
    devices: [u32; 2],
    [takes, within]: [u64; 2],
) -> String {
    let [from, to] = devices.map(|device| &c.graph.nodes[device as usize].name);
    format!(
        "{what} from \"{from}\" to \"{to}\" and its answer take {} at least, and it {ends} after {}",
        time_text(takes),
        time_text(within)
    )
}

/// Times that no way through a fabric exceeds, and no host.
pub(super) struct Extremes {
    links: u64,
    /// For what comes in and what goes out at a host, ps.
    pub host: u64,
    /// Of a link and the device behind it, ps.
    hop: u64,
    /// Of an octet, ps, rounded up.
    octet: u64,
    delimiter: u64,
}

impl Extremes {
    pub fn of(config: &FabricConfig) -> Self {
        let switches = config.devices.iter().filter_map(|device| match &device.model {
            DeviceModel::Switch(switch) => Some(switch.pipeline.0),
            DeviceModel::Endpoint(_) => None,
        });
        let most = |of: &dyn Fn(&LinkConfig) -> u64| config.links.iter().map(of).max().unwrap_or(0);
        let hosts = config.agents.iter().map(|agent| Software::shortest(&agent.host));
        Extremes {
            host: hosts.map(|own| own.rx.saturating_add(own.tx)).max().unwrap_or(0),
            links: switches.clone().count() as u64 + 1,
            hop: most(&|link| link.propagation.0) + switches.max().unwrap_or(0),
            octet: most(&|link| link.char_ps.0.div_ceil(link.char_ps.1)),
            // 64b/67b adds an octet or two to each eight.
            delimiter: most(&|link| u64::from(link.symbol_chars)) + 64,
        }
    }

    /// How long a question and its answer take at most without competition, ps.
    fn answered(&self, asked: &Exchange) -> u64 {
        let response = self.way(asked.response.as_slice());
        let links = self.way(&asked.packets).saturating_add(response).saturating_add(self.way(&asked.answer));
        links.saturating_add(self.host.saturating_mul(2))
    }

    /// What packets take at most.
    pub fn way(&self, packets: &[u32]) -> u64 {
        let octets: u64 = packets.iter().map(|&octets| 2 * u64::from(octets) + self.delimiter).sum();
        self.links.saturating_mul(self.hop.saturating_add(octets.saturating_mul(self.octet)))
    }
}

/// A host that sets the fabric up and gives up before a register far away can answer finds nothing behind it.
/// Who is asked is the last device of a way: those before it are nearer.
fn warn_of_registers(c: &mut Compiler<'_>, config: &FabricConfig) {
    let mut parts = config.agents.iter().flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
    let setter = parts.find_map(|(agent, part)| match part.protocol {
        ProtocolConfig::Enumerate { priority, .. } => Some((agent, priority)),
        _ => None,
    });
    let Some((agent, priority)) = setter else { return };
    let wire = |octets| packet_bytes(PacketClass::Maintenance, agent.ids, octets, AddressSize::Bits34).ok();
    // A read has no data, and its response the register.
    let [Some(read), Some(response)] = [0, 4].map(wire) else { return };
    let within = Clock(agent.clock).fabric(agent.response_timeout);
    // Ways are followed only where one can be too long: there are many.
    let extremes = Extremes::of(config);
    if extremes.way(&[read]).saturating_add(extremes.way(&[response])) <= within {
        return;
    }
    let roads = Roads::new(config);
    let takes = |(id, &owner): (u32, &u32)| {
        let there = way(&roads, (agent.device, id), priority, &[read])?;
        let back = way(&roads, (owner, agent.id), priority + 1, &[response])?;
        Some((there.saturating_add(back), owner))
    };
    let owned = (0..).zip(&config.owners).filter(|(_, owner)| **owner != NO_OWNER && **owner != agent.device);
    let Some((most, owner)) = owned.filter_map(takes).max_by_key(|(takes, _)| *takes) else { return };
    if most <= within {
        return;
    }
    let words = ["a register access", "is given up"];
    let message = too_early(c, words, [agent.device, owner], [most, within]);
    let message = message + ": so it finds no device that far away";
    let at = format!("{}/host/response_timeout", c.devices[agent.device as usize].origin);
    c.once(Diagnostic::warning("SC118", at, message).help("more time"));
}

/// Warns of what is given up, or asked again, before its answer can be there even without other traffic: for
/// each setting of such a time, of what lacks most.
pub(super) fn warn(c: &mut Compiler<'_>, config: &FabricConfig) {
    warn_of_registers(c, config);
    let parts = config.agents.iter().flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
    let asked = parts.flat_map(|(agent, part)| {
        let client = Client::of(config, agent, part).map(|client| client.asked(c));
        client.into_iter().flatten().chain(of_protocols(c, agent, &part.protocol))
    });
    let asked: Vec<Asked<'_>> = asked.collect();
    if asked.is_empty() {
        return;
    }
    let (extremes, mut roads) = (Extremes::of(config), None);
    let mut found: BTreeMap<String, (u64, String)> = BTreeMap::new();
    for asked in &asked {
        let question = &asked.question;
        // Ways are followed only where one can be too long: there are many.
        if extremes.answered(&question.exchange) < question.within {
            continue;
        }
        let roads = roads.get_or_insert_with(|| Roads::new(config));
        for id in asked.to.ids() {
            let asks = (asked.agent.device, asked.agent.id);
            let takes = question.exchange.takes((config, roads), asks, asked.priority, id);
            let Some((answers, takes)) = takes else { continue };
            let lack = takes.saturating_sub(question.within);
            let most = found.get(&question.at).map_or(0, |found| found.0);
            if lack <= most {
                continue;
            }
            let words = question.words.each_ref().map(String::as_str);
            let message = too_early(c, words, [asked.agent.device, answers], [takes, question.within]);
            found.insert(question.at.clone(), (lack, message));
        }
    }
    for (at, (_, message)) in found {
        c.once(Diagnostic::warning("SC118", at, message).help("more time, or faster hosts"));
    }
}
