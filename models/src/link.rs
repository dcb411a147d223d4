//! Links: both halves of every port, the wires between them, and what is known of the neighbour.

mod begin;
pub(crate) mod border;
pub(crate) mod choice;
pub(crate) mod credit;
pub(crate) mod interleave;
pub(crate) mod life;
pub(crate) mod mail;
pub(crate) mod medium;
pub(crate) mod port;
pub(crate) mod refresh;
pub(crate) mod symbol;
pub(crate) mod transmit;
pub(crate) mod wire;

use crate::config::{DeviceModel, FabricConfig, Forwarding};
use crate::event::{Cx, Payload};
use crate::ids::{Nodes, PortId};
use crate::link::border::Border;
use crate::link::credit::Lengths;
use crate::link::interleave::Interleave;
use crate::link::mail::{Peer, Reached};
use crate::link::medium::Channels;
use crate::link::port::{Cold, LinkTiming, Port, special};
use crate::link::symbol::{End, WireChecked};
use crate::link::wire::WireTiming;
use crate::observe::Build;
use crate::observe::Observe;
use crate::observe::probe::Sample;
use crate::packet::{Lanes, Packets};
use sim_core::{ActorId, Class, EventKey, EventList, KeySource, Shake, Time, large_pages};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All links, and what lies below them: packets, and what is observed.
pub(crate) struct Links<P: Build> {
    pub config: Arc<FabricConfig>,
    /// Arrival and end of a pipeline are events of their own.
    pub unfolded: bool,
    pub observe: Observe<P>,
    pub packets: Packets,
    /// Whose port is whose.
    pub nodes: Nodes,
    /// By device.
    pub keys: Vec<KeySource>,
    /// Queues of packets at the outputs of devices.
    pub lanes: Lanes,
    pub ports: Vec<Port<P::Ports>>,
    pub cold: Vec<Cold<P::Ports>>,
    /// Kinds of links.
    pub timings: Vec<LinkTiming>,
    /// All of them send as fast.
    pub one_pace: bool,
    /// By port: the staging queue of next-hop port p is p, for p below this; 0xFF: ask the map; 0: no
    /// staging. Here and not at the transmitter, because a line holds those of 64 ports.
    pub identity_queues: Vec<u8>,
    /// Ends of symbolic links, by port; empty if there are none.
    pub ends: Vec<Option<Box<End>>>,
    pub wire_checked: WireChecked,
    /// What a port has said last of a group of ports, if its wire is checked: a refresh says it again.
    said: BTreeMap<(PortId, u8), u16>,
    /// Where the fabric is cut.
    pub border: Border,
    /// The packet whose start was made up and that has reached a switch by now.
    reached: Option<Reached>,
    /// By port, what the scenario joins it to. Made for the first packet of a group that is dropped, which
    /// asks who is behind it.
    wired: OnceCell<Vec<Option<(u32, u8)>>>,
    /// By device and origin, the place of a source in the configuration. Made for the first of its packets
    /// that is written.
    sources: OnceCell<BTreeMap<(u32, u16), usize>>,
}

impl<P: Build> Links<P> {
    /// No links yet.
    pub fn new(config: Arc<FabricConfig>, unfolded: bool, probe: P) -> Self {
        let shake = if config.shake == 0 { Shake::NONE } else { Shake::new(config.shake) };
        let ports: usize = config.devices.iter().map(|device| device.ports.len()).sum();
        Links {
            unfolded,
            observe: Observe::new(&config, probe),
            packets: Packets::default(),
            nodes: Nodes::default(),
            keys: (0..config.devices.len()).map(|d| KeySource::new(ActorId::new(d as u32), shake)).collect(),
            lanes: Lanes::default(),
            ports: large_pages(ports),
            cold: large_pages(ports),
            timings: Vec::new(),
            one_pace: true,
            identity_queues: vec![0; ports],
            ends: Vec::new(),
            wire_checked: WireChecked::default(),
            said: BTreeMap::new(),
            border: Border::default(),
            reached: None,
            wired: OnceCell::new(),
            sources: OnceCell::new(),
            config,
        }
    }
}

impl<P: Build> Links<P> {
    pub fn connect(&mut self, link: &crate::config::LinkConfig, lengths: &Lengths) {
        let config = self.config.clone();
        for ((from, from_port), (to, to_port)) in [(link.a, link.b), (link.b, link.a)] {
            let from_index = self.nodes.first_port(from) + u32::from(from_port);
            let to_index = self.nodes.first_port(to) + u32::from(to_port);
            let neighbour = &config.devices[to as usize];
            let receiver = &neighbour.ports[to_port as usize];
            let (pipeline, header) = match &neighbour.model {
                DeviceModel::Endpoint(_) => (0, 0),
                DeviceModel::Switch(s) => match s.forwarding {
                    Forwarding::StoreAndForward => (s.pipeline.0, 0),
                    Forwarding::CutThrough { header } => (s.pipeline.0, u64::from(header)),
                },
            };
            let (num, den) = link.char_ps;
            let symbol_ps = (u64::from(link.symbol_chars) * num).div_ceil(den);
            let column_ps = if link.lanes > 4 { u64::from(link.lanes) * num / den } else { 0 };
            let timing = LinkTiming {
                char_num: num,
                char_den: den,
                symbol_chars: u64::from(link.symbol_chars),
                framing: link.framing(),
                wire: WireTiming { symbol: symbol_ps, column: column_ps },
                propagation: link.propagation.0,
                pipeline,
                header,
                head_ps: 0,
                watermarks: receiver.watermarks,
                to_sink: matches!(neighbour.model, DeviceModel::Endpoint(_)),
                to_agent: false,
                ack_window: link.ack_window,
            };
            let timing = timing.paced(link.char_ps);
            let number = self.timing_number(timing);
            self.ports[to_index.index()].rx.eager_at = lengths.eager_at(link, pipeline, receiver);
            let state = &mut self.ports[from_index.index()];
            state.join(Peer::new(to_index));
            state.tx.free = i16::from(receiver.buffers);
            state.keep_time(number);
        }
    }

    /// Writes and reads back whatever crosses a link from now on.
    pub fn check_wire(&mut self) {
        self.ports.iter_mut().for_each(|port| port.run_specially(special::CHECK, 0));
    }

    /// The number of a kind of link.
    pub fn timing_number(&mut self, timing: LinkTiming) -> u16 {
        let known = self.timings.iter().position(|known| *known == timing);
        let number = known.unwrap_or_else(|| {
            self.timings.push(timing);
            let first = &self.timings[0];
            self.one_pace &= timing.char_num * first.char_den == first.char_num * timing.char_den;
            self.timings.len() - 1
        });
        u16::try_from(number).expect("at most 65 536 kinds of links")
    }

    /// The key of device `device` for `at`.
    #[inline(always)]
    pub fn key(&mut self, device: u32, at: u64, class: Class) -> EventKey {
        self.keys[device as usize].make(Time(at), class)
    }

    /// The link of `port` runs in symbol granularity now.
    #[inline(always)]
    pub fn is_symbolic(&self, port: PortId) -> bool {
        !self.ends.is_empty() && self.ports[port.index()].link.special() & special::SYMBOLS != 0
    }

    /// Whether nothing is left to happen but observations.
    pub fn is_idle<L: EventList<Payload>>(&self, cx: &Cx<'_, L>) -> bool {
        cx.pending() == self.observe.pending && self.cold.iter().all(|c| c.in_flight.is_empty())
    }

    /// Arrival of the last packet that is on its way to a sink.
    pub fn last_arrival(&self) -> Time {
        self.cold
            .iter()
            .filter_map(|c| c.in_flight.back())
            .map(|(key, _)| key.time())
            .max()
            .unwrap_or(Time::ZERO)
    }

    /// The end of a run in which nothing is left to happen: its last change, whether or not it was an event.
    /// What is left somewhere stays for ever.
    pub fn last_change(&self) -> Time {
        if self.packets.len() > 0 {
            return Time::MAX;
        }
        let mut last = self.observe.last_event;
        let linked = self.ports.iter().zip(&self.cold).filter(|(port, _)| port.tx.peer.is_some());
        for (Port { tx, link, .. }, cold) in linked {
            let timing = &self.timings[tx.timing as usize];
            if tx.packets_sent > 0 {
                last = last.max(tx.done.time().0 + timing.propagation + timing.pipeline);
            }
            if let Some(end) = link.wire.last_message(timing.wire) {
                last = last.max(end + timing.propagation + cold.obeyed_after);
            }
        }
        Time(last)
    }

    /// What moved aside for a stopped queue is counted; a queue that goes keeps a place as long as it has
    /// packets.
    #[cfg(debug_assertions)]
    pub fn check_parked(&self) {
        for parked in self.cold.iter().flat_map(|cold| &cold.parked) {
            let count: usize = parked.lists.iter().map(|list| self.packets.iter_list(*list).count()).sum();
            assert_eq!(parked.count as usize, count, "packets that moved aside are counted");
            assert!(parked.stopped || count > 0, "a place is given up with its last packet");
        }
    }

    /// Whether packets wait somewhere, others than those on their way to a sink.
    pub fn has_waiting(&self) -> bool {
        let arriving: usize = self.cold.iter().map(|cold| cold.in_flight.len()).sum();
        self.packets.len() > arriving
    }

    /// What a sample sees of packets, beside those of other parts of the fabric.
    pub fn see_packets(&mut self, sample: &mut Sample) {
        let ledger = &mut self.observe.ledger;
        sample.injected += ledger.injected;
        sample.replicated += ledger.replicated;
        sample.delivered += ledger.delivered;
        sample.dropped += ledger.dropped;
        let now = self.packets.len() as u64;
        sample.in_flight += now;
        sample.in_flight_ps = sample.in_flight_ps.wrapping_add(ledger.in_flight.close(sample.at, now));
    }

    /// Conservation: injected + replicated = delivered + dropped + in flight.
    pub fn check_conservation(&self) {
        let l = &self.observe.ledger;
        assert_eq!(
            l.injected + l.replicated,
            l.delivered + l.dropped + self.packets.len() as u64,
            "packets are conserved"
        );
    }

    #[inline(always)]
    pub fn base_of(&self, port: PortId) -> PortId {
        self.nodes.first_port(self.ports[port.index()].link.device)
    }

    pub fn channels_of(&mut self, port: PortId) -> &mut Channels {
        self.cold[port.index()].channels.as_mut().expect("the link of the port is of another medium")
    }
    /// The messages on the wire of `port`, where channels share it.
    pub fn interleaved(&self, port: PortId) -> Option<&Interleave> {
        self.cold[port.index()].channels.as_ref()?.interleave.as_deref()
    }
}
