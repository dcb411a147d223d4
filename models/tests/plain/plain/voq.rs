//! VoQ backpressure of Part 12: who stages, who is stopped, who tells.

use super::channels::Vcs;
use super::wire::{Due, Function};
use super::{Event, Model, Name, Packet, World, class};
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
    Set(PortSet),
}

/// What a port knows of the congestion of its neighbour's ports, F-14, F-83.
pub struct Staging {
    queue_of: Vec<usize>,
    /// By channel, F-150; 0 is VC0.
    congested: Vec<Vec<bool>>,
    /// Sets of ports that multicast packets may stand for here, rising.
    sets: Vec<PortSet>,
}

impl Staging {
    pub fn new(
        config: &FabricConfig,
        d: usize,
        p: usize,
        (long, channels): (bool, usize),
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
        let mut sets: Vec<PortSet> = match &device.model {
            DeviceModel::Endpoint(_) => {
                neighbour.routes.masks.iter().map(|mask| mask.without(back as u8)).collect()
            }
            DeviceModel::Switch(s) => s.routes.mask_next_hops.iter().map(|sets| sets[p]).collect(),
        };
        sets.retain(|set| set.len() > 1);
        sets.sort_unstable();
        sets.dedup();
        let stages = device.ports[p].voq.rx_sup && long && table;
        queue_of.filter(|_| stages).map(|queue_of| Staging {
            congested: vec![vec![false; ports]; 1 + channels],
            queue_of,
            sets,
        })
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

    pub fn of_set(&self, set: PortSet) -> Stage {
        match set.sole() {
            Some(port) => self.of_port(port),
            None if set.is_empty() => Stage::Free,
            None => Stage::Set(set),
        }
    }

    fn queue_is_stopped(&self, channel: usize, queue: usize) -> bool {
        (0..self.queue_of.len()).any(|port| self.queue_of[port] == queue && self.congested[channel][port])
    }

    /// Copies are in VC0.
    fn set_is_stopped(&self, set: PortSet) -> bool {
        (0..self.queue_of.len()).any(|port| set.contains(port as u8) && self.congested[0][port])
    }

    pub fn is_stopped(&self, channel: usize, stage: Stage) -> bool {
        match stage {
            Stage::Free => false,
            Stage::Queue { queue, .. } => self.queue_is_stopped(channel, queue),
            Stage::Set(set) => self.set_is_stopped(set),
        }
    }

    /// F-90: the packet's own port is congested, not only one that shares its queue.
    pub fn own_is_congested(&self, channel: usize, stage: Stage) -> bool {
        match stage {
            Stage::Free => false,
            Stage::Queue { port, .. } => self.congested[channel][port],
            Stage::Set(_) => true,
        }
    }
}

/// The side of a port that sends messages, F-70.
pub struct Originator {
    groups: usize,
    /// By channel, F-156; without linking all are told together.
    marked: Vec<Vec<bool>>,
    /// The group to look at first, by channel.
    next: Vec<usize>,
    /// Channel from which on the next one is looked for, F-156.
    next_channel: usize,
    /// A message is asked for and has not left.
    asked: bool,
    /// What the last message of each group said, by channel, and losses.
    said: Vec<Vec<u8>>,
    losses: Vec<(LossKind, u32)>,
    /// F-71.
    generation_delay: u64,
    refresh: Option<u64>,
    after_recovery: bool,
    /// F-80.
    refresh_due: u64,
    /// F-81: when a refresh that makes a loss good will be sent.
    refresh_event: Option<u64>,
}

impl Originator {
    pub fn new(
        config: &FabricConfig,
        d: usize,
        p: usize,
        (long, channels): (bool, usize),
    ) -> Option<Originator> {
        let device = &config.devices[d];
        let DeviceModel::Switch(switch) = &device.model else { return None };
        let voq = device.ports[p].voq;
        let groups = device.ports.len().div_ceil(6);
        let channels = if voq.link_en { 1 + channels } else { 1 };
        let losses =
            config.symbol_losses.iter().filter(|loss| (loss.device as usize, loss.port as usize) == (d, p));
        let rules = rules_of(switch, p);
        (voq.gen_sup && long).then(|| Originator {
            generation_delay: rules.generation_delay.0,
            refresh: rules.refresh.map(|period| period.0),
            after_recovery: rules.after_recovery,
            groups,
            marked: vec![vec![false; groups]; channels],
            next: vec![0; channels],
            next_channel: 0,
            asked: false,
            said: vec![vec![0; groups]; channels],
            losses: losses.map(|loss| (loss.kind, loss.nth)).collect(),
            refresh_event: None,
            refresh_due: rules.refresh.filter(|_| voq.gen_en).map_or(u64::MAX, |period| period.0),
        })
    }
}

impl Originator {
    /// All groups of all channels are marked, or none, to be sent from group 0 on.
    fn mark_all(&mut self, marked: bool) {
        self.marked.iter_mut().for_each(|groups| groups.fill(marked));
        self.next.fill(0);
        self.next_channel = 0;
    }

    /// A group is marked for a channel; without linking for all of them together.
    fn mark(&mut self, channel: usize, group: usize) {
        let last = self.marked.len() - 1;
        self.marked[channel.min(last)][group] = true;
    }

    /// F-80: a refresh is due.
    fn takes_refresh(&mut self, now: u64) -> bool {
        let Some(period) = self.refresh else { return false };
        let takes = self.refresh_due <= now && self.refresh_event != Some(now);
        if takes {
            self.refresh_due = next_of(self.refresh_due, now, period);
        }
        takes
    }

    fn is_marked(&self) -> bool {
        self.marked.iter().flatten().any(|&marked| marked)
    }
}

/// F-80: the first instant after now of those from `due` on, a period apart.
fn next_of(due: u64, now: u64, period: u64) -> u64 {
    if due > now { due } else { due + ((now - due) / period + 1) * period }
}

/// F-71: what is said for a port, or else for its switch.
fn rules_of(switch: &SwitchConfig, port: usize) -> PortRules {
    match switch.port_rules.get(port) {
        Some(rules) => *rules,
        None => PortRules {
            detector: switch.detector,
            refresh: switch.refresh,
            generation_delay: switch.generation_delay,
            after_recovery: switch.after_recovery,
        },
    }
}

/// Counts packets and judges, F-71, F-72.
pub struct Detector {
    /// By egress port.
    settings: Vec<Option<models::config::Detector>>,
    /// Packets that wait, and the verdict, by channel (F-155) and (ingress, egress); with a shared verdict
    /// ingress is 0.
    counts: Vec<Vec<Vec<u32>>>,
    congested: Vec<Vec<Vec<bool>>>,
}

impl Detector {
    pub fn new(config: &SwitchConfig, ports: usize, told_apart: usize) -> Option<Detector> {
        let settings: Vec<_> = (0..ports).map(|port| rules_of(config, port).detector).collect();
        let all = 1 + told_apart;
        let (counts, congested) =
            (vec![vec![vec![0; ports]; ports]; all], vec![vec![vec![false; ports]; ports]; all]);
        settings.iter().any(Option::is_some).then_some(Detector { settings, counts, congested })
    }

    pub fn is_shared(&self, egress: usize) -> bool {
        self.settings[egress].is_some_and(|settings| settings.verdict == Verdict::Shared)
    }

    fn row(&self, ingress: usize, egress: usize) -> usize {
        if self.is_shared(egress) { 0 } else { ingress }
    }

    /// F-71: a count becomes this; whether the verdict changes.
    fn set(&mut self, channel: usize, ingress: usize, egress: usize, count: u32) -> bool {
        let Some(settings) = self.settings[egress] else { return false };
        let row = self.row(ingress, egress);
        let before = std::mem::replace(&mut self.counts[channel][row][egress], count);
        let congested = &mut self.congested[channel][row][egress];
        let was = *congested;
        if count > before && count >= settings.x_on.into() {
            *congested = true;
        }
        if count < before && count <= settings.x_off.into() {
            *congested = false;
        }
        *congested != was
    }

    /// F-70b: whether the verdict changes on what is counted, for the thresholds are others.
    fn judge(&mut self, channel: usize, row: usize, egress: usize) -> bool {
        let Some(settings) = self.settings[egress] else { return false };
        let count = self.counts[channel][row][egress];
        let congested = &mut self.congested[channel][row][egress];
        let was = *congested;
        *congested = match count {
            high if high >= settings.x_on.into() => true,
            low if low <= settings.x_off.into() => false,
            _ => was,
        };
        *congested != was
    }
}

impl World<'_> {
    /// Of a port that transmits, F-70.
    fn originator(&mut self, d: usize, p: usize) -> Option<&mut Originator> {
        let port = self.port(d, p);
        port.originator.as_mut().filter(|_| port.registers.gen_en)
    }

    /// Of a port that does, or could.
    fn any_originator(&mut self, d: usize, p: usize) -> &mut Originator {
        self.port(d, p).originator.as_mut().expect("it can send")
    }

    pub fn transmits(&self, d: usize, p: usize) -> bool {
        let port = &self.devices[d].ports[p];
        port.originator.is_some() && port.registers.gen_en
    }

    pub fn write(&mut self, n: usize) {
        let VoqWrite { device, port, change, .. } = self.config.voq_writes[n];
        let (d, q) = (device as usize, port as usize);
        match change {
            VoqChange::Register { mask, value } => self.write_register(d, q, mask, value),
            VoqChange::Thresholds { x_on, x_off } => self.write_thresholds(d, q, x_on, x_off),
        }
    }

    /// F-70b.
    fn write_thresholds(&mut self, d: usize, q: usize, x_on: u16, x_off: u16) {
        let (ports, channels) = (self.devices[d].ports.len(), 1 + self.told_apart(d));
        let Model::Switch(switch) = &mut self.devices[d].model else { return };
        let Some(detector) = &mut switch.detector else { return };
        if let Some(settings) = &mut detector.settings[q] {
            (settings.x_on, settings.x_off) = (x_on, x_off);
        }
        let rows = if detector.is_shared(q) { 1 } else { ports };
        for channel in 0..channels {
            for i in 0..rows {
                let Model::Switch(switch) = &mut self.devices[d].model else { return };
                if switch.detector.as_mut().is_some_and(|detector| detector.judge(channel, i, q)) {
                    self.verdict_changes(d, channel, i, q);
                }
            }
        }
    }

    /// F-70a.
    fn write_register(&mut self, d: usize, q: usize, mask: u32, value: u32) {
        let now = self.now;
        let ports = self.devices[d].ports.len();
        let all = 0..1 + self.told_apart(d);
        let told = |world: &Self| -> Vec<Vec<bool>> {
            (0..ports).map(|u| all.clone().map(|vc| world.reported(d, u, vc, q)).collect()).collect()
        };
        let before_it = told(self);
        let port = self.port(d, q);
        let before = port.registers;
        let bit = |bit: u32, old: bool| if mask & bit != 0 { value & bit != 0 } else { old };
        // Bits 8, 9 and 10; bit 0 is the most significant one (Part 12 5.1.2.2).
        port.registers.gen_en = bit(1 << 23, before.gen_en) && before.gen_sup;
        port.registers.part = bit(1 << 22, before.part);
        port.registers.xoff = bit(1 << 21, before.xoff);
        let after = port.registers;
        let mut marked = vec![false; ports];
        if after.gen_en != before.gen_en
            && let Some(originator) = &mut port.originator
        {
            originator.mark_all(after.gen_en);
            let due = originator.refresh.map_or(u64::MAX, |period| now + period);
            originator.refresh_due = if after.gen_en { due } else { u64::MAX };
            marked[q] = after.gen_en;
            if after.gen_en && originator.refresh_event.is_some() {
                originator.refresh_event = Some(due);
                self.post(d, q, due, class::SYMBOL, Event::RefreshAll);
            }
        }
        let after_it = told(self);
        for (u, vc) in (0..ports).flat_map(|u| all.clone().map(move |vc| (u, vc))) {
            if after.part && self.transmits(d, u) && after_it[u][vc] != before_it[u][vc] {
                self.any_originator(d, u).mark(vc, q / 6);
                marked[u] = true;
            }
        }
        for u in 0..ports {
            if !after.part && self.transmits(d, u) && after_it[u] != before_it[u] {
                self.owe_refresh(d, u);
            }
        }
        for u in (0..ports).filter(|&u| marked[u]) {
            self.ask(d, u);
        }
    }

    /// F-70, F-155: what is reported about port q through port u, for a channel.
    pub fn reported(&self, d: usize, u: usize, channel: usize, q: usize) -> bool {
        let voq = self.devices[d].ports[q].registers;
        let congested = match self.devices[d].ports[u].registers.link_en {
            true => self.is_congested(d, u, channel, q),
            false => (0..1 + self.told_apart(d)).any(|channel| self.is_congested(d, u, channel, q)),
        };
        voq.xoff || voq.part && congested
    }

    /// The verdict on port q for a channel, as port u is told.
    pub fn is_congested(&self, d: usize, u: usize, channel: usize, q: usize) -> bool {
        let Model::Switch(switch) = &self.devices[d].model else { return false };
        let detector = switch.detector.as_ref();
        detector.is_some_and(|detector| detector.congested[channel][detector.row(u, q)][q])
    }

    /// F-155: how many channels of a device have verdicts of their own.
    fn told_apart(&self, d: usize) -> usize {
        let linked = self.devices[d].ports.iter().find(|port| port.registers.link_en);
        linked.and_then(|port| port.channels.as_ref()).map_or(0, Vcs::count)
    }

    /// F-155: the channel in which a packet of a priority is judged.
    pub fn judged(&self, d: usize, priority: usize) -> usize {
        let linked = self.devices[d].ports.iter().find(|port| port.registers.link_en);
        linked.map_or(0, |port| port.channel(priority))
    }

    /// F-70: at 0.
    pub fn mark_initial(&mut self, d: usize) {
        for u in 0..self.devices[d].ports.len() {
            let marks: Vec<(usize, usize)> = (0..1 + self.told_apart(d))
                .flat_map(|channel| (0..self.devices[d].ports.len()).map(move |q| (channel, q)))
                .filter(|&(channel, q)| self.reported(d, u, channel, q))
                .map(|(channel, q)| (channel, q / 6))
                .collect();
            if let Some(originator) = self.originator(d, u)
                && !marks.is_empty()
            {
                marks.iter().for_each(|&(channel, group)| originator.mark(channel, group));
                originator.asked = true;
                self.post(d, u, 0, class::SYMBOL, Event::MessageDue);
            }
        }
    }

    /// F-71, F-73: the detector counts a packet of ingress i for egress q up or down.
    pub fn count(&mut self, d: usize, name: Name, up: bool) {
        let Packet { input: i, output: q, priority, .. } = self.packets[name];
        let channel = self.judged(d, priority);
        let Model::Switch(switch) = &mut self.devices[d].model else { return };
        let Some(detector) = &mut switch.detector else { return };
        if detector.settings[q].is_none() {
            return;
        }
        let count = detector.counts[channel][detector.row(i, q)][q];
        if detector.set(channel, i, q, if up { count + 1 } else { count - 1 }) {
            self.verdict_changes(d, channel, i, q);
        }
    }

    /// F-73, F-155.
    fn verdict_changes(&mut self, d: usize, channel: usize, i: usize, q: usize) {
        let voq = self.devices[d].ports[q].registers;
        if !voq.part || voq.xoff {
            return;
        }
        let Model::Switch(switch) = &self.devices[d].model else { return };
        let shared = switch.detector.as_ref().is_some_and(|detector| detector.is_shared(q));
        let concerned: Vec<usize> = if shared { (0..self.devices[d].ports.len()).collect() } else { vec![i] };
        let mut marked = Vec::new();
        for u in concerned {
            let others = (0..1 + self.told_apart(d)).filter(|&other| other != channel);
            // For the others of a port that is not linked it is known, if another channel is congested.
            let news = self.devices[d].ports[u].registers.link_en
                || !others.clone().any(|other| self.is_congested(d, u, other, q));
            if let Some(originator) = self.originator(d, u).filter(|_| news) {
                originator.mark(channel, q / 6);
                marked.push(u);
            }
        }
        for u in marked {
            self.ask(d, u);
        }
    }

    /// F-72a: what counts for egress q is counted anew.
    fn count_anew(&mut self, d: usize, q: usize) {
        let Model::Switch(switch) = &self.devices[d].model else { return };
        if !switch.config.leave_out_stopped || switch.detector.is_none() {
            return;
        }
        let waiting: Vec<usize> = switch.waiting().into_iter().filter(|&name| self.counts(d, name)).collect();
        let ports = self.devices[d].ports.len();
        let shared = switch.detector.as_ref().is_some_and(|detector| detector.is_shared(q));
        for channel in 0..1 + self.told_apart(d) {
            let of = |i: usize| {
                let packets = waiting.iter().map(|&name| &self.packets[name]);
                let here = packets.filter(|packet| packet.input == i && packet.output == q);
                here.filter(|packet| self.judged(d, packet.priority) == channel).count() as u32
            };
            let counts: Vec<u32> = (0..ports).map(of).collect();
            let counts = if shared { vec![counts.iter().sum()] } else { counts };
            for (i, count) in counts.into_iter().enumerate() {
                let Model::Switch(switch) = &mut self.devices[d].model else { return };
                if switch.detector.as_mut().is_some_and(|detector| detector.set(channel, i, q, count)) {
                    self.verdict_changes(d, channel, i, q);
                }
            }
        }
    }

    /// F-74.
    fn ask(&mut self, d: usize, u: usize) {
        let Some(originator) = self.originator(d, u) else { return };
        if originator.asked {
            return;
        }
        originator.asked = true;
        match originator.generation_delay {
            0 => self.message_due(d, u),
            delay => self.post(d, u, self.now + delay, class::SYMBOL, Event::MessageDue),
        }
    }

    /// F-74: it takes its place.
    pub fn message_due(&mut self, d: usize, u: usize) {
        let now = self.now;
        if self.port(d, u).registers.link_en {
            return self.linked_message_due(d, u);
        }
        let Due { begins, rides } = self.port(d, u).wire.due(Function::Message, now);
        self.count_message(d, u, rides);
        if begins == now {
            self.message_leaves(d, u, 0);
        } else {
            self.post(d, u, begins, class::SYMBOL, Event::MessageLeaves);
        }
        // Its symbol can be a start-of-packet: on more than four lanes sooner than the next column.
        self.ask_wire(d, u);
    }

    /// F-156: a status of the next channel with a marked group carries it.
    fn linked_message_due(&mut self, d: usize, u: usize) {
        let originator = self.any_originator(d, u);
        let channels = originator.marked.len();
        let mut cyclic = (0..channels).map(|step| (originator.next_channel + step) % channels);
        let channel = cyclic.find(|&channel| originator.marked[channel].contains(&true));
        let Some(channel) = channel else {
            originator.asked = false;
            return;
        };
        self.tell_acceptance(d, u);
        self.tell_of(d, u, channel, 0);
        self.count_message(d, u, true);
        let (_, begins) = self.port(d, u).last_told(channel).1.expect("just told");
        self.post(d, u, begins, class::CARRIED, Event::LinkedLeaves { channel });
    }

    /// What the packet causes that comes in through the port now has been due since it came in.
    pub fn tell_acceptance(&mut self, d: usize, p: usize) {
        let taken = self.port(d, p).channels.as_mut().and_then(|channels| channels.taking_in.take());
        if let Some(channel) = taken {
            self.tell_of(d, p, channel, 1);
        }
    }

    fn count_message(&mut self, d: usize, u: usize, rides: bool) {
        let stats = &mut self.port(d, u).stats;
        *(if rides { &mut stats.voq_riding } else { &mut stats.voq_standalone }) += 1;
    }

    /// F-75, F-76, F-81, F-156.
    pub fn message_leaves(&mut self, d: usize, u: usize, channel: usize) {
        let now = self.now;
        let originator = self.any_originator(d, u);
        let (groups, next) = (originator.groups, originator.next[channel]);
        originator.asked = false;
        let mut cyclic = (0..groups).map(|step| (next + step) % groups);
        let Some(group) = cyclic.find(|&group| originator.marked[channel][group]) else {
            if originator.is_marked() {
                self.ask(d, u);
            }
            return;
        };
        originator.marked[channel][group] = false;
        originator.next[channel] = (group + 1) % groups;
        originator.next_channel = (channel + 1) % originator.marked.len();
        let ports = self.devices[d].ports.len();
        let mut bits = 0;
        for offset in 0..6 {
            let q = 6 * group + offset;
            if q < ports && self.reported(d, u, channel, q) {
                bits |= 1 << offset;
            }
        }
        let originator = self.originator(d, u).expect("it sends");
        let before = std::mem::replace(&mut originator.said[channel][group], bits);
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
        let more = originator.is_marked();
        let port = self.port(d, u);
        let (peer, arrives) = (port.peer, now + port.wire.symbol() + port.propagation);
        let arrives = arrives + self.config.devices[peer.0].ports[peer.1].voq.obey.0;
        let port = self.port(d, u);
        if lost {
            port.stats.voq_lost += 1;
            self.owe_refresh(d, u);
        } else {
            self.post_to(d, peer, arrives, class::SYMBOL, Event::MessageArrives { channel, group, bits });
        }
        if more {
            self.ask(d, u);
        }
    }

    /// F-80: a refresh that is due takes its places before the packet that is committed now.
    pub fn charge_refresh(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Some(originator) = self.originator(d, u) else { return };
        let linked = originator.marked.len() > 1;
        if linked || !originator.takes_refresh(now) {
            return;
        }
        for _ in 0..originator.groups {
            let Due { rides, .. } = self.port(d, u).wire.due(Function::Message, now);
            self.count_message(d, u, rides);
        }
        self.port(d, u).stats.voq_refreshes += 1;
    }

    /// F-157: of a linked port, behind the packet that is committed now.
    pub fn charge_linked_refresh(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Some(originator) = self.originator(d, u) else { return };
        let (groups, channels) = (originator.groups, originator.marked.len());
        if channels == 1 || !originator.takes_refresh(now) {
            return;
        }
        self.tell_acceptance(d, u);
        for channel in (0..groups).flat_map(|_| 0..channels) {
            self.tell_of(d, u, channel, 0);
            self.count_message(d, u, true);
        }
        self.port(d, u).stats.voq_refreshes += 1;
    }

    /// F-81, F-70a: what the neighbour does not know it learns from the next refresh.
    fn owe_refresh(&mut self, d: usize, u: usize) {
        let now = self.now;
        let originator = self.originator(d, u).expect("it sends");
        let Some(period) = originator.refresh else { return };
        if originator.refresh_event.is_some() {
            return;
        }
        let due = next_of(originator.refresh_due, now, period);
        originator.refresh_event = Some(due);
        self.post(d, u, due, class::SYMBOL, Event::RefreshAll);
    }

    /// F-153.
    pub fn tell_after_recovery(&mut self, d: usize, u: usize) {
        let Some(originator) = self.originator(d, u) else { return };
        if originator.after_recovery {
            originator.mark_all(true);
            self.ask(d, u);
        }
    }

    pub fn refresh_all(&mut self, d: usize, u: usize) {
        let now = self.now;
        let Some(originator) = self.originator(d, u) else { return };
        let Some(period) = originator.refresh.filter(|_| originator.refresh_event == Some(now)) else {
            return;
        };
        (originator.refresh_due, originator.refresh_event) = (now + period, None);
        originator.mark_all(true);
        self.port(d, u).stats.voq_refreshes += 1;
        self.ask(d, u);
    }

    /// F-83: a message arrives at port p.
    pub fn apply(&mut self, d: usize, p: usize, named: usize, group: usize, bits: u8) {
        if self.port(d, p).staging.is_none() {
            return;
        }
        self.port(d, p).stats.voq_received += 1;
        let switch = self.is_switch(d);
        if !switch {
            self.create_all(d);
        }
        let linked = self.port(d, p).registers.link_en;
        let at = self.now;
        let mut edges = Vec::new();
        let staging = self.port(d, p).staging.as_mut().expect("just seen");
        let sets_before: Vec<bool> = staging.sets.iter().map(|&set| staging.set_is_stopped(set)).collect();
        // F-152: all channels; F-154: the one that is named.
        for channel in (0..staging.congested.len()).filter(|&channel| !linked || channel == named) {
            for value in [true, false] {
                for offset in 0..6 {
                    let port = 6 * group + offset;
                    let says = bits & 1 << offset != 0;
                    let exists = port < staging.queue_of.len();
                    if !exists || says != value || staging.congested[channel][port] == value {
                        continue;
                    }
                    let queue = staging.queue_of[port];
                    let before = staging.queue_is_stopped(channel, queue);
                    staging.congested[channel][port] = value;
                    if staging.queue_is_stopped(channel, queue) != before {
                        edges.push((channel, queue, value));
                    }
                }
            }
        }
        for (n, before) in sets_before.into_iter().enumerate() {
            let after = staging.set_is_stopped(staging.sets[n]);
            if after != before {
                edges.push((0, 192 + n, after));
            }
        }
        for &(channel, queue, stopped) in &edges {
            let (device, port, channel, queue) = (d as u32, p as u8, channel as u8, queue as u8);
            self.records.push(Record::Edge { at, device, port, channel, queue, stopped });
        }
        for &(channel, queue, stopped) in &edges {
            let port = self.port(d, p);
            if stopped {
                port.stats.xoff_edges += 1;
                port.stopped_since.insert((channel, queue), at);
            } else {
                port.stats.xon_edges += 1;
                let stopped = at - port.stopped_since.remove(&(channel, queue)).expect("it was stopped");
                port.stats.stopped_ps += stopped;
                port.stats.longest_stop_ps = port.stats.longest_stop_ps.max(stopped);
            }
        }
        self.count_anew(d, p);
        if !switch {
            self.turn(d);
        } else if edges.iter().any(|&(.., stopped)| !stopped) {
            self.try_output(d, p);
        }
    }
}
