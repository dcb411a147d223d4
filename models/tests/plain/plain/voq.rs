//! VoQ backpressure of Part 12: who stages, who is stopped, who tells.

use super::wire::{Due, Function};
use super::{Event, Model, World, class};
use crate::record::Record;
use models::config::*;

/// Where a packet is staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nothing stops it.
    Free,
    /// In the staging queue of one port of the neighbour.
    Queue { queue: usize, port: usize },
    /// For several ports of the neighbour, as a set of bits.
    Set(u64),
}

/// What a port knows of the congestion of its neighbour's ports, F-14, F-83.
pub struct Staging {
    queue_of: Vec<usize>,
    congested: Vec<bool>,
    /// Sets of ports that multicast packets may stand for here, rising.
    sets: Vec<u64>,
}

impl Staging {
    pub fn new(
        config: &FabricConfig,
        d: usize,
        p: usize,
        long: bool,
        (peer, back): (usize, usize),
    ) -> Option<Staging> {
        let device = &config.devices[d];
        let DeviceModel::Switch(neighbour) = &config.devices[peer].model else { return None };
        let (staging, table) = match &device.model {
            DeviceModel::Endpoint(e) => (&e.staging, !e.next_hop.is_empty()),
            DeviceModel::Switch(s) => (&s.staging, true),
        };
        let ports = config.devices[peer].ports.len();
        let queue = |port: usize| match staging {
            StagingConfig::None => None,
            StagingConfig::PerPort => Some(port),
            StagingConfig::Modulo(n) => Some(port % usize::from(*n)),
            StagingConfig::Table(table) => Some(table.get(port).copied().unwrap_or(0).into()),
        };
        let queue_of: Option<Vec<usize>> = (0..ports).map(queue).collect();
        let mut sets: Vec<u64> = match &device.model {
            DeviceModel::Endpoint(_) => {
                neighbour.routes.masks.iter().map(|mask| mask & !(1 << back)).collect()
            }
            DeviceModel::Switch(s) => s.routes.mask_next_hops.iter().map(|sets| sets[p]).collect(),
        };
        sets.retain(|set| set.count_ones() > 1);
        sets.sort_unstable();
        sets.dedup();
        let stages = device.ports[p].voq.rx_sup && long && table;
        queue_of.filter(|_| stages).map(|queue_of| Staging { congested: vec![false; ports], queue_of, sets })
    }

    /// How many queues there are.
    pub fn queues(&self) -> usize {
        self.queue_of.iter().max().map_or(0, |&queue| queue + 1)
    }

    pub fn of_port(&self, port: u8) -> Stage {
        match self.queue_of.get(usize::from(port)) {
            Some(&queue) => Stage::Queue { queue, port: port.into() },
            None => Stage::Free,
        }
    }

    pub fn of_set(&self, set: u64) -> Stage {
        match set.count_ones() {
            0 => Stage::Free,
            1 => self.of_port(set.trailing_zeros() as u8),
            _ => Stage::Set(set),
        }
    }

    fn queue_is_stopped(&self, queue: usize) -> bool {
        (0..self.queue_of.len()).any(|port| self.queue_of[port] == queue && self.congested[port])
    }

    fn set_is_stopped(&self, set: u64) -> bool {
        (0..self.congested.len()).any(|port| set & 1 << port != 0 && self.congested[port])
    }

    pub fn is_stopped(&self, stage: Stage) -> bool {
        match stage {
            Stage::Free => false,
            Stage::Queue { queue, .. } => self.queue_is_stopped(queue),
            Stage::Set(set) => self.set_is_stopped(set),
        }
    }

    /// F-90: the packet's own port is congested, not only one that shares its queue.
    pub fn own_is_congested(&self, stage: Stage) -> bool {
        match stage {
            Stage::Free => false,
            Stage::Queue { port, .. } => self.congested[port],
            Stage::Set(_) => true,
        }
    }
}

/// The side of a port that sends messages, F-70.
pub struct Originator {
    groups: usize,
    marked: Vec<bool>,
    /// The group to look at first.
    next: usize,
    /// A message is asked for and has not left.
    asked: bool,
    /// What the last message of each group said, and losses.
    said: Vec<u8>,
    losses: Vec<(LossKind, u32)>,
    /// F-80.
    refresh_due: u64,
    /// F-81: when a refresh that makes a loss good will be sent.
    refresh_event: Option<u64>,
}

impl Originator {
    pub fn new(config: &FabricConfig, d: usize, p: usize, long: bool) -> Option<Originator> {
        let device = &config.devices[d];
        let DeviceModel::Switch(switch) = &device.model else { return None };
        let voq = device.ports[p].voq;
        let groups = device.ports.len().div_ceil(6);
        let losses =
            config.symbol_losses.iter().filter(|loss| (loss.device as usize, loss.port as usize) == (d, p));
        (voq.gen_sup && voq.gen_en && long).then(|| Originator {
            groups,
            marked: vec![false; groups],
            next: 0,
            asked: false,
            said: vec![0; groups],
            losses: losses.map(|loss| (loss.kind, loss.nth)).collect(),
            refresh_event: None,
            refresh_due: switch.refresh.map_or(u64::MAX, |period| period.0),
        })
    }
}

/// Counts packets and judges, F-71, F-72.
pub struct Detector {
    pub settings: models::config::Detector,
    /// Packets that wait, and the verdict, by (ingress, egress); with a shared verdict ingress is 0.
    counts: Vec<Vec<u32>>,
    congested: Vec<Vec<bool>>,
}

impl Detector {
    pub fn new(settings: models::config::Detector, ports: usize) -> Detector {
        Detector { settings, counts: vec![vec![0; ports]; ports], congested: vec![vec![false; ports]; ports] }
    }

    fn row(&self, ingress: usize) -> usize {
        if self.settings.verdict == Verdict::Shared { 0 } else { ingress }
    }
}

impl World<'_> {
    fn originator(&mut self, d: usize, p: usize) -> Option<&mut Originator> {
        self.port(d, p).originator.as_mut()
    }

    /// F-70: what is reported about port q through port u.
    pub fn reported(&self, d: usize, u: usize, q: usize) -> bool {
        let voq = self.config.devices[d].ports[q].voq;
        voq.xoff || voq.part && self.is_congested(d, u, q)
    }

    /// The verdict on port q, as port u is told.
    pub fn is_congested(&self, d: usize, u: usize, q: usize) -> bool {
        let Model::Switch(switch) = &self.devices[d].model else { return false };
        switch.detector.as_ref().is_some_and(|detector| detector.congested[detector.row(u)][q])
    }

    /// F-70: at 0.
    pub fn mark_initial(&mut self, d: usize) {
        for u in 0..self.devices[d].ports.len() {
            let marks: Vec<usize> =
                (0..self.devices[d].ports.len()).filter(|&q| self.reported(d, u, q)).map(|q| q / 6).collect();
            if let Some(originator) = self.originator(d, u)
                && !marks.is_empty()
            {
                marks.iter().for_each(|&group| originator.marked[group] = true);
                originator.asked = true;
                self.post(d, u, 0, class::SYMBOL, Event::MessageDue);
            }
        }
    }

    /// F-71, F-73: the detector counts a packet of ingress i for egress q up or down.
    pub fn count(&mut self, d: usize, i: usize, q: usize, up: bool) {
        let Model::Switch(switch) = &mut self.devices[d].model else { return };
        let Some(detector) = &mut switch.detector else { return };
        let row = detector.row(i);
        let count = &mut detector.counts[row][q];
        *count = if up { *count + 1 } else { *count - 1 };
        let congested = &mut detector.congested[row][q];
        let before = *congested;
        if up && *count >= detector.settings.x_on.into() {
            *congested = true;
        }
        if !up && *count <= detector.settings.x_off.into() {
            *congested = false;
        }
        let voq = self.config.devices[d].ports[q].voq;
        if *congested == before || !voq.part || voq.xoff {
            return;
        }
        let shared = detector.settings.verdict == Verdict::Shared;
        let concerned: Vec<usize> = if shared { (0..self.devices[d].ports.len()).collect() } else { vec![i] };
        for &u in &concerned {
            if let Some(originator) = self.originator(d, u) {
                originator.marked[q / 6] = true;
            }
        }
        for &u in &concerned {
            self.ask(d, u);
        }
    }

    fn generation_delay(&self, d: usize) -> u64 {
        match &self.devices[d].model {
            Model::Switch(switch) => switch.config.generation_delay.0,
            Model::Endpoint(_) => 0,
        }
    }

    /// F-74.
    fn ask(&mut self, d: usize, u: usize) {
        let Some(originator) = self.originator(d, u) else { return };
        if originator.asked {
            return;
        }
        originator.asked = true;
        match self.generation_delay(d) {
            0 => self.message_due(d, u),
            delay => self.post(d, u, self.now + delay, class::SYMBOL, Event::MessageDue),
        }
    }

    /// F-74: it takes its place.
    pub fn message_due(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Due { begins, rides } = self.port(d, u).wire.due(Function::Message, now);
        self.count_message(d, u, rides);
        if begins == now {
            self.message_leaves(d, u);
        } else {
            self.post(d, u, begins, class::SYMBOL, Event::MessageLeaves);
        }
    }

    fn count_message(&mut self, d: usize, u: usize, rides: bool) {
        let stats = &mut self.port(d, u).stats;
        *(if rides { &mut stats.voq_riding } else { &mut stats.voq_standalone }) += 1;
    }

    /// F-75, F-76, F-81.
    pub fn message_leaves(&mut self, d: usize, u: usize) {
        let now = self.now;
        let groups = self.originator(d, u).expect("it sends").groups;
        let originator = self.originator(d, u).expect("it sends");
        let next = originator.next;
        let mut cyclic = (0..groups).map(|step| (next + step) % groups);
        let group = cyclic.find(|&group| originator.marked[group]).expect("a group is marked");
        originator.marked[group] = false;
        originator.next = (group + 1) % groups;
        originator.asked = false;
        let ports = self.devices[d].ports.len();
        let mut bits = 0;
        for offset in 0..6 {
            let q = 6 * group + offset;
            if q < ports && self.reported(d, u, q) {
                bits |= 1 << offset;
            }
        }
        let originator = self.originator(d, u).expect("it sends");
        let before = std::mem::replace(&mut originator.said[group], bits);
        let mut lost = false;
        for (kind, nth) in &mut originator.losses {
            let counts = match kind {
                LossKind::Any => true,
                LossKind::Xoff => bits & !before != 0,
                LossKind::Xon => before & !bits != 0,
            };
            if counts && *nth > 0 {
                *nth -= 1;
                lost |= *nth == 0;
            }
        }
        let more = originator.marked.contains(&true);
        let port = self.port(d, u);
        let (peer, arrives) = (port.peer, now + port.wire.symbol() + port.propagation);
        if lost {
            port.stats.voq_lost += 1;
            self.refresh_after_loss(d, u);
        } else {
            self.post_to(d, peer, arrives, class::SYMBOL, Event::MessageArrives { group, bits });
        }
        if more {
            self.ask(d, u);
        }
    }

    fn refresh_period(&self, d: usize) -> Option<u64> {
        match &self.devices[d].model {
            Model::Switch(switch) => switch.config.refresh.map(|period| period.0),
            Model::Endpoint(_) => None,
        }
    }

    /// F-80: a refresh that is due takes its places before the packet that is committed now.
    pub fn charge_refresh(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Some(period) = self.refresh_period(d) else { return };
        let Some(originator) = self.originator(d, u) else { return };
        if originator.refresh_due > now || originator.refresh_event == Some(now) {
            return;
        }
        originator.refresh_due = (now / period + 1) * period;
        for _ in 0..originator.groups {
            let Due { rides, .. } = self.port(d, u).wire.due(Function::Message, now);
            self.count_message(d, u, rides);
        }
        self.port(d, u).stats.voq_refreshes += 1;
    }

    /// F-81: a lost message is made good by the next refresh.
    fn refresh_after_loss(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Some(period) = self.refresh_period(d) else { return };
        let originator = self.originator(d, u).expect("it sends");
        if originator.refresh_event.is_some() {
            return;
        }
        let due = originator.refresh_due.max((now / period + 1) * period);
        originator.refresh_event = Some(due);
        self.post(d, u, due, class::SYMBOL, Event::RefreshAll);
    }

    pub fn refresh_all(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Some(period) = self.refresh_period(d) else { return };
        let originator = self.originator(d, u).expect("it sends");
        (originator.refresh_due, originator.refresh_event) = (now + period, None);
        originator.marked.fill(true);
        originator.next = 0;
        self.port(d, u).stats.voq_refreshes += 1;
        self.ask(d, u);
    }

    /// F-83: a message arrives at port p.
    pub fn apply(&mut self, d: usize, p: usize, group: usize, bits: u8) {
        if self.port(d, p).staging.is_none() {
            return;
        }
        self.port(d, p).stats.voq_received += 1;
        let switch = self.is_switch(d);
        if !switch {
            self.create_all(d);
        }
        let at = self.now;
        let mut edges = Vec::new();
        let staging = self.port(d, p).staging.as_mut().expect("just seen");
        let sets_before: Vec<bool> = staging.sets.iter().map(|&set| staging.set_is_stopped(set)).collect();
        for value in [true, false] {
            for offset in 0..6 {
                let port = 6 * group + offset;
                let says = bits & 1 << offset != 0;
                if port >= staging.congested.len() || says != value || staging.congested[port] == value {
                    continue;
                }
                let queue = staging.queue_of[port];
                let before = staging.queue_is_stopped(queue);
                staging.congested[port] = value;
                if staging.queue_is_stopped(queue) != before {
                    edges.push((queue, value));
                }
            }
        }
        for (n, before) in sets_before.into_iter().enumerate() {
            let after = staging.set_is_stopped(staging.sets[n]);
            if after != before {
                edges.push((192 + n, after));
            }
        }
        for &(queue, stopped) in &edges {
            let (device, port, queue) = (d as u32, p as u8, queue as u8);
            self.records.push(Record::Edge { at, device, port, queue, stopped });
        }
        for &(queue, stopped) in &edges {
            let port = self.port(d, p);
            if stopped {
                port.stats.xoff_edges += 1;
                port.stopped_since.insert(queue, at);
            } else {
                port.stats.xon_edges += 1;
                let stopped = at - port.stopped_since.remove(&queue).expect("it was stopped");
                port.stats.stopped_ps += stopped;
                port.stats.longest_stop_ps = port.stats.longest_stop_ps.max(stopped);
            }
        }
        if !switch {
            self.turn(d);
        } else if edges.iter().any(|&(_, stopped)| !stopped) {
            self.try_output(d, p);
        }
    }
}
