//! Translators: devices with interfaces on several media, which carry Scheduled Transfer from one to another.
//!
//! Addresses of ends stay in the frame, so a translator is a bridge of their frames: it takes an operation
//! out of a frame of one medium, whole, and puts it into one of another. On its way an operation may declare
//! less than before ([`intermediate::lower`]), because no end knows what lies between. It repeats nothing:
//! what it has no room for, or no medium behind it carries, is dropped, and the ends miss it.
//!
//! It is one device whatever flows pass it: one machine with one memory runs the parts of all of them.

use super::{DATA_WINDOW, lower, node_of};
use crate::agent::data::Data;
use crate::agent::protocol::{Conveyance, Cx, Ends, Outcome, Protocol, Received, Send, Token};
use crate::config::{Translator as Device, TranslatorConfig};
use crate::observe::probe::SignalKind;
use crate::observe::stats::{TranslatorPart, TranslatorStats, TranslatorTotals};
use crate::observe::totals::Totals;
use scheduled_transfer::Ula;
use scheduled_transfer::intermediate::{self, Lowered};
use scheduled_transfer::wire::{Op, View};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Orders that operations have on one interface: those of virtual channels, or one for all.
const ORDERS: usize = 4;

/// What a translator is in a flow.
#[derive(Debug)]
pub(crate) struct Role {
    /// Its number among the parts of the agent.
    pub part: u16,
    pub config: Box<TranslatorConfig>,
}

/// An operation that waits to go on.
#[derive(Debug)]
struct Held {
    flow: u16,
    /// Where its frame goes on the medium behind.
    to: u16,
    /// The ends.
    addresses: (Ula, Ula),
    /// Virtual channel: 0 for Control, or that of Data.
    channel: u8,
    octets: Vec<u8>,
}

/// What is between here and a link.
#[derive(Copy, Clone, Debug)]
struct UnderWay {
    interface: u8,
    order: u8,
    octets: u32,
}

/// A translator.
#[derive(Debug)]
pub(crate) struct Translator {
    device: Arc<Device>,
    roles: BTreeMap<u16, Role>,
    /// What waits, by interface and order.
    queues: Vec<[VecDeque<Held>; ORDERS]>,
    under_way: BTreeMap<Token, UnderWay>,
    /// Octets of operations that are here.
    held: u64,
    most: u64,
    stats: BTreeMap<u16, TranslatorStats>,
}

impl Translator {
    /// `roles`: what it is in its flows, one at least.
    pub fn new(roles: impl Iterator<Item = (u16, Role)>) -> Self {
        let roles: BTreeMap<u16, Role> = roles.collect();
        let (_, first) = roles.first_key_value().expect("a translator is part of a flow");
        let device = Arc::clone(&first.config.device);
        Translator {
            queues: device.interfaces.iter().map(|_| Default::default()).collect(),
            device,
            under_way: BTreeMap::new(),
            held: 0,
            most: 0,
            stats: roles.keys().map(|&flow| (flow, TranslatorStats::default())).collect(),
            roles,
        }
    }

    /// Which order an operation on this virtual channel keeps: with all others, where they share one.
    fn order(&self, flow: u16, interface: u8, channel: u8) -> u8 {
        match self.device.interfaces[usize::from(interface)].medium {
            Some(medium) if medium.channels() == 1 => 0,
            Some(_) => channel,
            None => {
                let [control, data] = self.roles[&flow].config.streams();
                u8::from(control != data && channel != 0)
            }
        }
    }

    /// Takes an operation out of a frame, if there is a way for it, and room.
    fn take(&mut self, flow: u16, frame: &[u8], interface: u8) {
        let stats = self.stats.get_mut(&flow).expect("it is part of the flow");
        stats.came += 1;
        let Some(found) = lower::parse(self.device.interfaces[usize::from(interface)].medium, frame) else {
            stats.foreign += 1;
            return;
        };
        let Some(&(out, to)) = self.device.ways.get(&node_of(found.to)).filter(|(out, _)| *out != interface)
        else {
            stats.foreign += 1;
            return;
        };
        let Ok((header, payload)) = View::new(found.operation) else {
            stats.foreign += 1;
            return;
        };
        let is_data = header.op() == Op::Data as u8;
        let medium = self.device.interfaces[usize::from(out)].medium;
        if is_data && payload.len() > self.device.stu as usize || !lower::carries(medium, found.operation) {
            stats.too_long += 1;
            return;
        }
        let held = self.held + found.operation.len() as u64;
        if held > self.device.buffer {
            stats.no_room += 1;
            return;
        }
        self.held = held;
        self.most = self.most.max(held);
        let mut octets = found.operation.to_vec();
        match intermediate::lower(&mut octets, &self.device.limits) {
            Some(Lowered::MaxStu) => stats.lowered_stu += 1,
            Some(Lowered::MaxBlock) => stats.lowered_block += 1,
            None => {}
        }
        let channel = if is_data { header.flags().channel() } else { 0 };
        let order = self.order(flow, out, channel);
        let held = Held { flow, to, addresses: (found.to, found.from), channel, octets };
        self.queues[usize::from(out)][usize::from(order)].push_back(held);
    }

    /// Sends on what may leave: so much at a time that a link does not fall idle.
    fn send(&mut self, cx: &mut Cx<'_>) {
        for interface in 0..self.queues.len() as u8 {
            for order in 0..ORDERS as u8 {
                let same =
                    |under_way: &&UnderWay| (under_way.interface, under_way.order) == (interface, order);
                let mut before = self.under_way.values().filter(same).count();
                while before < DATA_WINDOW
                    && let Some(held) = self.queues[usize::from(interface)][usize::from(order)].pop_front()
                {
                    self.send_through(cx, (interface, order), held);
                    before += 1;
                }
            }
        }
    }

    fn send_through(&mut self, cx: &mut Cx<'_>, (interface, order): (u8, u8), held: Held) {
        let medium = self.device.interfaces[usize::from(interface)].medium;
        let Held { flow, to, addresses, channel, octets } = held;
        let Role { part, config } = &self.roles[&flow];
        let frame = lower::emit(medium, addresses, &octets);
        cx.speak_for(*part, flow);
        if config.captured && medium.is_none_or(|medium| medium == crate::config::Medium::Ethernet) {
            cx.tell(SignalKind::Frame { octets: frame.clone() });
        }
        let streams = (config.cos, config.streams());
        let (conveyance, priority) = lower::conveyance((medium, interface), streams, channel);
        let token = cx.send(Send { to: to.into(), priority, conveyance, payload: Data::bytes(frame) });
        let octets = octets.len() as u32;
        self.under_way.insert(token, UnderWay { interface, order, octets });
        let stats = self.stats.get_mut(&flow).expect("it is part of the flow");
        stats.passed[usize::from(channel != 0)] += 1;
        stats.octets += u64::from(octets);
    }

    /// What it did for a flow.
    fn stats(&self, flow: u16) -> TranslatorStats {
        let waiting = self.queues.iter().flatten().flatten().filter(|held| held.flow == flow).count();
        TranslatorStats { waiting: waiting as u64, ..self.stats.get(&flow).copied().unwrap_or_default() }
    }
}

impl Protocol for Translator {
    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        let frame = received.payload.as_bytes().expect("Scheduled Transfer sends bytes");
        let interface = match received.conveyance {
            Conveyance::Frame { interface } => interface,
            _ => 0,
        };
        self.take(cx.flow(), frame, interface);
        self.send(cx);
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, _: Outcome) {
        if let Some(UnderWay { octets, .. }) = self.under_way.remove(&token) {
            self.held -= u64::from(octets);
            self.send(cx);
        }
    }

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let part = |(device, node): (u32, &Translator)| TranslatorPart {
            device,
            most_octets: node.most,
            stats: node.stats(ends.flow),
        };
        let translators = ends.nodes().into_iter().map(part).collect();
        totals.push(TranslatorTotals { flow: ends.flow, translators });
    }
}
