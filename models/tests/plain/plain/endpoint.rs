//! Endpoints: sources, injection queues, their transmitter.

use super::channels::{KINDS, Vcs};
use super::traffic::Source;
use super::voq::{Stage, Staging};
use super::{Event, Model, Name, Packet, World, class, may_leave};
use crate::record::Record;
use models::config::*;
use models::probe::{PacketId, Parts};
use std::collections::VecDeque;

/// Of so many queues the last one is in the lane of everything else, F-15.
const FULL: [usize; 2] = [64, 192];

pub struct Endpoint {
    sources: Vec<Source>,
    /// F-15, by priority, and one for each channel.
    lanes: [Vec<VecDeque<Name>>; KINDS],
    /// F-18: one beyond the lane served last.
    served: [usize; KINDS],
    /// When the next TRAFFIC event is.
    planned: Option<u64>,
}

impl Endpoint {
    pub fn new(config: &FabricConfig, d: usize, staging: Option<&Staging>) -> Endpoint {
        let own = config.sources.iter().filter(|source| source.endpoint as usize == d);
        let queues = staging.map_or(0, Staging::queues);
        let lanes = if FULL.contains(&queues) { queues } else { queues + 1 };
        Endpoint {
            sources: own.map(|source| Source::new(config.seed, source)).collect(),
            lanes: std::array::from_fn(|_| vec![VecDeque::new(); lanes]),
            served: [0; KINDS],
            planned: None,
        }
    }

    pub fn waiting(&self) -> Vec<Name> {
        self.lanes.iter().flatten().flatten().copied().collect()
    }
}

impl World<'_> {
    fn endpoint(&mut self, d: usize) -> &mut Endpoint {
        match &mut self.devices[d].model {
            Model::Endpoint(endpoint) => endpoint,
            Model::Switch(_) => panic!("device {d} is a switch"),
        }
    }

    /// Posts the TRAFFIC event of the next creation, if it is not there yet.
    pub fn plan_creation(&mut self, d: usize) {
        let endpoint = self.endpoint(d);
        let next = endpoint.sources.iter().filter_map(|source| source.next).min();
        if let Some(at) = next
            && next != endpoint.planned
        {
            endpoint.planned = next;
            self.post(d, 0, at, class::TRAFFIC, Event::Creation);
        }
    }

    /// TRAFFIC.
    pub fn creation(&mut self, d: usize) {
        self.create_all(d);
        self.turn(d);
    }

    /// F-13: everything that is due by now.
    pub fn create_all(&mut self, d: usize) {
        loop {
            let now = self.now;
            let sources = &self.endpoint(d).sources;
            let due = sources.iter().enumerate().filter_map(|(n, source)| Some((source.next?, n)));
            let Some((at, source)) = due.min().filter(|&(at, _)| at <= now) else { break };
            assert_eq!(at, now, "nothing is made late");
            self.create(d, source);
        }
        self.plan_creation(d);
    }

    /// F-12, F-14, F-15: a source creates a packet, which joins its lane.
    fn create(&mut self, d: usize, n: usize) {
        let now = self.now;
        let source = &mut self.endpoint(d).sources[n];
        let sequence = source.made as u32;
        let made = source.make(now);
        let (size, priority) = (made.size, usize::from(made.priority));
        let id = PacketId { source: d as u32, origin: n as u16, sequence };
        let port = &self.devices[d].ports[0];
        let link_ps = port.wire.alone(size.wire.into());
        let stage = self.endpoint_stage(d, made.destination);
        self.records.push(Record::Created {
            at: now,
            id,
            destination: made.destination,
            flow: made.flow,
            priority: made.priority,
            payload: size.payload,
            wire: size.wire,
        });
        let name = self.packets.len();
        self.packets.push(Packet {
            id,
            destination: made.destination,
            flow: made.flow,
            priority,
            payload: size.payload,
            wire: size.wire,
            created: now,
            link_ps,
            parts: Parts::default(),
            input: 0,
            output: 0,
            stage,
            arrival_number: 0,
            place_number: 0,
            in_lane: true,
            looked: now,
            buffer: usize::MAX,
            sent: None,
            begun: false,
        });
        let kind = self.devices[d].ports[0].kind(priority);
        let lanes = &mut self.endpoint(d).lanes[kind];
        let last = lanes.len() - 1;
        let lane = match stage {
            // F-150.
            Stage::Queue { queue, .. } if kind < PRIORITIES => queue.min(last),
            _ => last,
        };
        lanes[lane].push_back(name);
        let waiting = self.endpoint(d).waiting().len() as u32;
        let stats = &mut self.port(d, 0).stats;
        stats.output_high_water = stats.output_high_water.max(waiting);
    }

    /// F-14 at an endpoint.
    fn endpoint_stage(&self, d: usize, id: u32) -> Stage {
        let Some(staging) = &self.devices[d].ports[0].staging else { return Stage::Free };
        let (neighbour, back) = self.devices[d].ports[0].peer;
        let DeviceModel::Switch(switch) = &self.config.devices[neighbour].model else { return Stage::Free };
        if let Some(Route { egress: Egress::Multicast(mask), .. }) = switch.routes.entries.get(id as usize) {
            return staging.of_set(switch.routes.masks[usize::from(*mask)].without(back as u8));
        }
        let DeviceModel::Endpoint(own) = &self.config.devices[d].model else { return Stage::Free };
        staging.of_port(own.next_hop.get(id as usize).copied().unwrap_or(NO_PORT))
    }

    /// F-17, F-18: an idle endpoint chooses.
    pub fn turn(&mut self, d: usize) {
        if !self.devices[d].ports[0].is_idle() {
            return;
        }
        let mut passed_over = false;
        let port = &self.devices[d].ports[0];
        let Model::Endpoint(endpoint) = &self.devices[d].model else { unreachable!() };
        // The first packet that may leave, with credit: F-18 in VC0, F-134 in each channel.
        let mut head = |kinds: &[usize]| {
            for &kind in kinds {
                let lanes = &endpoint.lanes[kind];
                let can = |lane: usize| may_leave(&lanes[lane], &self.packets, port);
                let count = lanes.len();
                let next = (0..count).map(|step| (endpoint.served[kind] + step) % count);
                let Some((lane, place)) = next.filter_map(|lane| Some((lane, can(lane)?))).next() else {
                    continue;
                };
                let name = lanes[lane][place];
                if port.has_credit(self.packets[name].priority) {
                    return Some((kind, lane, place, name));
                }
                passed_over = true;
            }
            None
        };
        let count = port.channels.as_ref().map_or(0, Vcs::count);
        let mut heads = vec![head(&[3, 2, 1, 0])];
        heads.extend((0..count).map(|channel| head(&[PRIORITIES + channel])));
        let choice =
            self.whose_turn(d, 0, &heads.iter().map(|head| Some(head.as_ref()?.3)).collect::<Vec<_>>());
        let Some((kind, lane, place, name)) = choice.and_then(|channel| heads[channel]) else {
            self.port(d, 0).waits_for_credit |= passed_over;
            return;
        };
        let endpoint = self.endpoint(d);
        endpoint.served[kind] = lane + 1;
        endpoint.lanes[kind][lane].remove(place).expect("it waits there");
        self.commit(d, 0, name, true);
        // F-16.
        let (now, source) = (self.now, usize::from(self.packets[name].id.origin));
        if self.endpoint(d).sources[source].refills(now) {
            self.create(d, source);
        }
    }
}
