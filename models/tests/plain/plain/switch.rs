//! Switches: queues, places, who goes first.

use super::channels::{KINDS, Vcs};
use super::voq::{Detector, Stage};
use super::{Buffer, Event, Model, Name, Packet, World, class, may_leave};
use models::config::*;
use models::probe::{Cause, DropReason};
use sim_core::{EventKey, Purpose, Stream, Time};
use std::collections::{BTreeSet, VecDeque};

type Queues = Vec<VecDeque<Name>>;

/// A pointer for each priority of each port, and for each channel.
type Pointers = Vec<[usize; KINDS]>;

pub struct Switch {
    pub config: SwitchConfig,
    ports: usize,
    draws: Stream,
    pub detector: Option<Detector>,
    /// F-56: `lanes[output][priority][lane]`, channels beyond the priorities.
    lanes: Vec<[Queues; KINDS]>,
    /// Input queues: `queues[input][priority][output]`, with fifo always 0 for the output.
    queues: Vec<[Queues; KINDS]>,
    /// All packets in lanes and input queues: a large switch has a hundred thousand of these, nearly all
    /// empty.
    held: BTreeSet<Name>,
    /// Packets that wait for each output, in lanes and input queues.
    waiting: Vec<usize>,
    /// F-53.
    arrivals: u64,
    places: u64,
    /// F-65: one beyond the input served last at (output, priority).
    served: Pointers,
    /// F-66: one beyond the input admitted last at (output, priority).
    admitted: Pointers,
    /// Output that read a packet of (input, priority) last, and one beyond.
    read: Pointers,
    /// F-59, shared: one beyond the output that was given a place last, by priority.
    given: [usize; KINDS],
    /// F-67: pointers of outputs and inputs.
    grants: Pointers,
    accepts: Pointers,
    /// F-57: outputs whose last try found nothing to start.
    in_vain: Vec<bool>,
    /// A match commits its packets.
    matching: bool,
    match_is_due: bool,
}

impl Switch {
    pub fn new(seed: u64, path: &str, config: &SwitchConfig, (ports, told_apart): (usize, usize)) -> Switch {
        let none = || std::array::from_fn(|_| vec![VecDeque::new(); ports]);
        Switch {
            config: config.clone(),
            ports,
            draws: Stream::new(seed, path, Purpose::ARBITRATION),
            detector: Detector::new(config, ports, told_apart),
            lanes: (0..ports).map(|_| none()).collect(),
            queues: (0..ports).map(|_| none()).collect(),
            held: BTreeSet::new(),
            waiting: vec![0; ports],
            arrivals: 0,
            places: 0,
            served: vec![[0; KINDS]; ports],
            admitted: vec![[0; KINDS]; ports],
            read: vec![[0; KINDS]; ports],
            given: [0; KINDS],
            grants: vec![[0; KINDS]; ports],
            accepts: vec![[0; KINDS]; ports],
            in_vain: vec![false; ports],
            matching: false,
            match_is_due: false,
        }
    }

    pub fn waiting(&self) -> Vec<Name> {
        self.held.iter().copied().collect()
    }

    fn is_fifo(&self) -> bool {
        self.config.input == InputQueueing::Fifo
    }

    fn is_direct(&self) -> bool {
        self.config.buffering == Buffering::Direct
    }

    /// The transmitter chooses by matching.
    fn matches(&self) -> bool {
        self.is_direct() && matches!(self.config.arbitration, Arbitration::Islip { .. })
    }

    /// The lane of packets of an input at an output.
    fn lane_of(&self, input: usize) -> usize {
        if self.has_one_lane() { 0 } else { input }
    }

    /// The input queue of packets for an output.
    fn queue_of(&self, output: usize) -> usize {
        if self.is_fifo() { 0 } else { output }
    }

    fn has_one_lane(&self) -> bool {
        matches!(self.config.buffering, Buffering::Output { .. } | Buffering::Shared { .. })
    }

    /// F-56: a place in its lane is free for a packet.
    fn has_place(&self, packets: &[Packet], name: Name) -> bool {
        let Packet { input, output, priority, stage, .. } = packets[name];
        let lane = &self.lanes[output][priority][self.lane_of(input)];
        let room = match self.config.buffering {
            Buffering::Direct => true,
            Buffering::Crosspoint { depth } => lane.len() < depth.into(),
            Buffering::Output { packets } => lane.len() < packets.into(),
            Buffering::Shared { packets } => {
                let taken: usize = self.lanes.iter().map(|lanes| lanes[priority][0].len()).sum();
                taken < packets.into()
            }
        };
        let alike = |other: Stage| match (stage, other) {
            (Stage::Queue { queue, .. }, Stage::Queue { queue: other, .. }) => queue == other,
            _ => stage == other,
        };
        room && self.config.queue_quota.is_none_or(|quota| {
            let taken = lane.iter().filter(|&&other| alike(packets[other].stage)).count();
            stage == Stage::Free || taken < quota.into()
        })
    }

    /// F-72, second line: only what is in the output buffer counts.
    fn counts_buffer_only(&self, output: usize) -> bool {
        let shared = self.detector.as_ref().is_some_and(|detector| detector.is_shared(output));
        shared && self.has_one_lane()
    }
}

impl World<'_> {
    fn switch(&mut self, d: usize) -> &mut Switch {
        match &mut self.devices[d].model {
            Model::Switch(switch) => switch,
            Model::Endpoint(_) => panic!("device {d} is an endpoint"),
        }
    }

    fn switch_ref(&self, d: usize) -> &Switch {
        match &self.devices[d].model {
            Model::Switch(switch) => switch,
            Model::Endpoint(_) => panic!("device {d} is an endpoint"),
        }
    }

    /// F-51, F-52, F-61 to F-63.
    pub fn arrive(&mut self, d: usize, i: usize, name: Name, behind: u64) {
        let id = self.packets[name].destination as usize;
        let none = Route { egress: Egress::Drop, next_hop: NO_PORT };
        let switch = self.switch_ref(d);
        let route = switch.config.routes.entries.get(id).copied().unwrap_or(none);
        if behind > 0 {
            let slower = |o: usize| {
                let (input, output) =
                    (self.devices[d].ports[i].character, self.devices[d].ports[o].character);
                u128::from(output.0) * u128::from(input.1) >= u128::from(input.0) * u128::from(output.1)
            };
            match route.egress {
                Egress::Port(o) if slower(o.into()) => {
                    self.post(d, i, self.now + behind, class::ARRIVAL, Event::Acceptance);
                    self.port(d, i).unaccepted += 1;
                }
                _ => {
                    self.packets[name].parts[Cause::Serialization] += behind;
                    self.repost_later(d, i, name, behind);
                    return;
                }
            }
        }
        match route.egress {
            Egress::Drop => self.drop_packet(d, name, DropReason::Unroutable),
            Egress::Port(o) => {
                let stage = self.stage_at(d, o.into(), |staging| staging.of_port(route.next_hop));
                self.enter(d, i, name, &[(o.into(), stage)]);
            }
            Egress::Multicast(mask) => {
                let mask = usize::from(mask);
                let routes = &self.switch_ref(d).config.routes;
                let copies: Vec<(usize, PortSet)> = (0..self.devices[d].ports.len())
                    .filter(|&o| o != i && routes.masks[mask].contains(o as u8))
                    .map(|o| (o, routes.mask_next_hops[mask][o]))
                    .collect();
                let copies: Vec<(usize, Stage)> = copies
                    .iter()
                    .map(|&(o, set)| (o, self.stage_at(d, o, |staging| staging.of_set(set))))
                    .collect();
                if copies.is_empty() {
                    self.drop_packet(d, name, DropReason::EmptyMask);
                }
                self.enter(d, i, name, &copies);
            }
        }
        if behind == 0 {
            self.accept(d, i);
        }
    }

    /// F-62: the sender's key again, only later.
    fn repost_later(&mut self, d: usize, i: usize, packet: Name, behind: u64) {
        let key = self.key.later(sim_core::Duration(behind));
        let event = Event::Arrival { packet, behind: 0, number: 0 };
        self.heap.push(std::cmp::Reverse(super::Entry { key, device: d, port: i, event }));
    }

    fn stage_at(&self, d: usize, o: usize, stage: impl Fn(&super::Staging) -> Stage) -> Stage {
        self.devices[d].ports[o].staging.as_ref().map_or(Stage::Free, stage)
    }

    /// A packet takes a receive buffer, and it or its copies queue up.
    fn enter(&mut self, d: usize, i: usize, name: Name, copies: &[(usize, Stage)]) {
        if copies.is_empty() {
            return;
        }
        let (now, buffer) = (self.now, self.buffers.len());
        let channel = self.devices[d].ports[i].channel(self.packets[name].priority);
        self.buffers.push(Buffer { copies: copies.len(), channel });
        let port = self.port(d, i);
        *port.occupied(channel) += 1;
        if let Some(channels) = port.channels.as_ref().filter(|_| channel > 0) {
            // F-137.
            let all = port.occupied + channels.occupied.iter().sum::<i64>();
            port.stats.input_high_water = port.stats.input_high_water.max(all as u32);
        }
        for &(o, stage) in copies {
            let mut copy = self.packets[name].clone();
            (copy.input, copy.output, copy.stage, copy.buffer, copy.looked) = (i, o, stage, buffer, now);
            let switch = self.switch(d);
            switch.arrivals += 1;
            copy.arrival_number = switch.arrivals;
            self.packets.push(copy);
            self.queue_up(d, self.packets.len() - 1);
        }
    }

    fn is_stopped(&self, d: usize, name: Name) -> bool {
        let packet = &self.packets[name];
        self.devices[d].ports[packet.output].holds(packet)
    }

    /// F-57.
    fn is_readable(&self, d: usize, i: usize) -> bool {
        let switch = self.switch_ref(d);
        let most = usize::from(switch.config.reads_per_input);
        if !switch.is_direct() || self.devices[d].ports[i].reads < most {
            return true;
        }
        let wanted = |o: usize| switch.lanes[o].iter().any(|lanes| !lanes[i].is_empty());
        let goes_on = |o: &usize| {
            let sending = self.devices[d].ports[*o].sending;
            sending
                .is_some_and(|sending| sending.read.is_some_and(|read| read.0 == i) && sending.end > self.now)
        };
        self.key >= EventKey::floor(Time(self.now), class::DONE)
            && !(0..switch.ports).any(|o| switch.in_vain[o] && wanted(o))
            && (0..switch.ports).filter(goes_on).count() < most
    }

    /// F-55.
    fn queue_up(&mut self, d: usize, name: Name) {
        let packet = &self.packets[name];
        let (i, o, priority) = (packet.input, packet.output, packet.priority);
        let switch = self.switch_ref(d);
        let port = &self.devices[d].ports[o];
        let kind = port.kind(priority);
        let at_once = switch.waiting[o] == 0
            && port.is_idle()
            && port.has_credit(priority)
            && !self.is_stopped(d, name)
            && switch.config.slot.is_none();
        let queue = switch.queue_of(o);
        if switch.is_direct() {
            let in_lane = |lanes: &[Queues; KINDS]| !lanes[kind][i].is_empty();
            let behind = switch.is_fifo()
                && (switch.lanes.iter().any(in_lane) || !switch.queues[i][priority][queue].is_empty());
            if behind {
                self.join_queue(d, name);
            } else if at_once && self.is_readable(d, i) {
                self.start(d, name, false);
            } else {
                self.join_lane(d, name);
                self.switch(d).waiting[o] += 1;
                self.count_wait(d, name);
                self.count_join(d, name);
                self.try_output(d, o);
            }
        } else if switch.queues[i][priority][queue].is_empty() && switch.has_place(&self.packets, name) {
            self.switch(d).admitted[o][priority] = i + 1;
            let buffer = self.packets[name].buffer;
            self.release(d, i, buffer, false);
            if at_once {
                self.start(d, name, false);
            } else {
                self.join_lane(d, name);
                self.switch(d).waiting[o] += 1;
                self.count_wait(d, name);
                self.count_join(d, name);
                self.try_output(d, o);
            }
        } else {
            self.join_queue(d, name);
        }
    }

    /// F-112: a packet begins to wait. Whether it is late for the detector of its output, and the most there
    /// ever was of what waits.
    fn count_wait(&mut self, d: usize, name: Name) {
        let packet = &self.packets[name];
        let (i, o, in_lane) = (packet.input, packet.output, packet.in_lane);
        let switch = self.switch_ref(d);
        let waiting = switch.waiting[o] as u32;
        let port = &self.devices[d].ports[i];
        let needed: i64 = self.config.devices[d].ports[i].watermarks[0].into();
        let judged = self.judged(d, packet.priority);
        let congested = self.is_congested(d, i, judged, o);
        let told = self.transmits(d, i) && congested && self.reported(d, i, judged, o);
        let late = if switch.is_direct() {
            // F-151.
            let few = match port.channel(packet.priority) {
                0 => port.buffers - port.occupied < needed,
                channel => !port.channel_has_room(channel),
            };
            told && few
        } else {
            told && !in_lane && !switch.has_place(&self.packets, name)
        };
        let occupied = port.occupied as u32;
        let stats = &mut self.port(d, i).stats;
        stats.input_high_water = stats.input_high_water.max(occupied);
        let stats = &mut self.port(d, o).stats;
        stats.late_hol += u64::from(late);
        stats.output_high_water = stats.output_high_water.max(waiting);
    }

    fn join_queue(&mut self, d: usize, name: Name) {
        let packet = &mut self.packets[name];
        packet.in_lane = false;
        let (i, o, priority) = (packet.input, packet.output, packet.priority);
        let switch = self.switch(d);
        let queue = switch.queue_of(o);
        switch.queues[i][priority][queue].push_back(name);
        switch.held.insert(name);
        switch.waiting[o] += 1;
        self.count_wait(d, name);
        self.count_join(d, name);
    }

    /// F-72, F-72a: whether a packet that waits counts for the detector.
    pub fn counts(&self, d: usize, name: Name) -> bool {
        let (switch, packet) = (self.switch_ref(d), &self.packets[name]);
        let left_out = switch.config.leave_out_stopped && self.is_stopped(d, name);
        !left_out && (packet.in_lane || !switch.counts_buffer_only(packet.output))
    }

    /// A packet that has just joined a lane or an input queue counts, if it does.
    fn count_join(&mut self, d: usize, name: Name) {
        if self.counts(d, name) {
            self.count(d, name, true);
        }
    }

    fn join_lane(&mut self, d: usize, name: Name) {
        let switch = self.switch(d);
        switch.places += 1;
        let place = switch.places;
        let packet = &mut self.packets[name];
        (packet.place_number, packet.in_lane) = (place, true);
        let (i, o, priority) = (packet.input, packet.output, packet.priority);
        let kind = self.devices[d].ports[o].kind(priority);
        let switch = self.switch(d);
        let lane = switch.lane_of(i);
        switch.lanes[o][kind][lane].push_back(name);
        switch.held.insert(name);
    }

    /// F-54.
    pub fn try_output(&mut self, d: usize, o: usize) {
        let switch = self.switch_ref(d);
        let has_packets = switch.lanes[o].iter().flatten().any(|lane| !lane.is_empty());
        if !self.devices[d].ports[o].is_idle() || !has_packets || switch.config.slot.is_some() {
            return;
        }
        if !switch.matches() {
            self.choose(d, o);
        } else if !switch.match_is_due {
            self.switch(d).match_is_due = true;
            self.post(d, 0, self.now, class::TICK, Event::Match);
        }
    }

    /// The instant is over in which something became free.
    pub fn matching_time(&mut self, d: usize) {
        self.switch(d).match_is_due = false;
        self.match_once(d);
    }

    /// F-64: lanes of (output, priority) that take part, with the place of the packet that may leave.
    fn taking_part(&self, d: usize, o: usize, priority: usize) -> Vec<(usize, usize)> {
        let switch = self.switch_ref(d);
        let port = &self.devices[d].ports[o];
        let lanes = switch.lanes[o][priority].iter().enumerate();
        lanes
            .filter(|&(lane, _)| self.is_readable(d, lane))
            .filter_map(|(lane, queue)| Some((lane, may_leave(queue, &self.packets, port)?)))
            .collect()
    }

    /// F-64, F-65, F-134: the output chooses, if there is something to choose.
    fn choose(&mut self, d: usize, o: usize) {
        let mut passed_over = false;
        let mut heads = vec![self.choose_among(d, o, &[3, 2, 1, 0], &mut passed_over)];
        for channel in 0..self.devices[d].ports[o].channels.as_ref().map_or(0, Vcs::count) {
            heads.push(self.choose_among(d, o, &[PRIORITIES + channel], &mut passed_over));
        }
        match self.whose_turn(d, o, &heads) {
            Some(channel) => self.start(d, heads[channel].expect("it is its turn"), true),
            None => {
                self.port(d, o).waits_for_credit |= passed_over;
                self.switch(d).in_vain[o] = true;
            }
        }
    }

    /// F-64, F-65: the highest of these kinds that may go, and which of its packets.
    fn choose_among(&mut self, d: usize, o: usize, kinds: &[usize], passed_over: &mut bool) -> Option<Name> {
        for &kind in kinds {
            let lanes = self.taking_part(d, o, kind);
            let switch = self.switch_ref(d);
            let name = |&(lane, place): &(usize, usize)| switch.lanes[o][kind][lane][place];
            let heads: Vec<(usize, Name)> = lanes.iter().map(|lane| (lane.0, name(lane))).collect();
            let Some(&(_, first)) = heads.first() else { continue };
            if !self.devices[d].ports[o].has_credit(self.packets[first].priority) {
                *passed_over = true;
                continue;
            }
            let pointer = switch.served[o][kind];
            return Some(self.pick(d, &heads, pointer));
        }
        None
    }

    /// F-65, F-66: who goes first among the packets of these inputs.
    fn pick(&mut self, d: usize, heads: &[(usize, Name)], pointer: usize) -> Name {
        let by_age = heads.iter().map(|&(_, name)| (self.packets[name].arrival_number, name)).min();
        let mut heads = heads.to_vec();
        if self.switch_ref(d).config.arbitration == Arbitration::LongestQueueFirst {
            let most = heads.iter().map(|&(_, name)| self.alike(d, name)).max();
            heads.retain(|&(_, name)| Some(self.alike(d, name)) == most);
        }
        let switch = self.switch(d);
        match switch.config.arbitration {
            Arbitration::RoundRobin | Arbitration::Islip { .. } | Arbitration::LongestQueueFirst => {
                let after = heads.iter().find(|head| head.0 >= pointer);
                after.unwrap_or(&heads[0]).1
            }
            Arbitration::OldestFirst => by_age.expect("there is one").1,
            Arbitration::Random if heads.len() == 1 => heads[0].1,
            Arbitration::Random => {
                let drawn = switch.draws.below(heads.len() as u64);
                heads[drawn as usize].1
            }
        }
    }

    /// Packets with the input, output and priority of this one that wait in the switch, with output buffers
    /// in front of them.
    fn alike(&self, d: usize, name: Name) -> usize {
        let of = |name: Name| {
            let packet = &self.packets[name];
            (packet.input, packet.output, packet.priority)
        };
        let switch = self.switch_ref(d);
        let waiting = match switch.config.buffering {
            Buffering::Output { .. } | Buffering::Shared { .. } => {
                switch.queues.iter().flatten().flatten().flatten().copied().collect()
            }
            _ => switch.waiting(),
        };
        waiting.into_iter().filter(|&other| of(other) == of(name)).count()
    }

    /// Commits a packet to its output: F-50, then F-58.
    fn start(&mut self, d: usize, name: Name, from_lane: bool) {
        let packet = &self.packets[name];
        let (i, o, priority) = (packet.input, packet.output, packet.priority);
        let kind = self.devices[d].ports[o].kind(priority);
        let switch = self.switch(d);
        let lane = switch.lane_of(i);
        if from_lane {
            switch.lanes[o][kind][lane].retain(|&other| other != name);
            switch.held.remove(&name);
            switch.waiting[o] -= 1;
        }
        switch.served[o][kind] = lane + 1;
        switch.in_vain[o] = false;
        if switch.matches() && !switch.matching {
            let ports = switch.ports;
            switch.grants[o][priority] = (i + 1) % ports;
            switch.accepts[i][priority] = (o + 1) % ports;
        }
        let direct = switch.is_direct();
        if direct {
            // Channels have a pointer together.
            switch.read[i][priority.min(PRIORITIES)] = o + 1;
        }
        self.commit(d, o, name, from_lane);
        if direct {
            self.port(d, i).reads += 1;
        }
        if from_lane {
            self.count(d, name, false);
        }
        if direct {
            let switch = self.switch(d);
            if switch.is_fifo()
                && let Some(next) = switch.queues[i][priority][0].pop_front()
            {
                switch.held.remove(&next);
                self.join_lane(d, next);
                let output = self.packets[next].output;
                self.try_output(d, output);
            }
        } else if from_lane {
            self.admit(d, o, priority, i);
        }
    }

    /// F-59: a place of (output, priority) is free; in a crosspoint that of input i.
    fn admit(&mut self, d: usize, o: usize, priority: usize, i: usize) {
        loop {
            let switch = self.switch_ref(d);
            let (ports, given) = (switch.ports, switch.given[priority]);
            let shared = matches!(switch.config.buffering, Buffering::Shared { .. });
            let inputs = if switch.has_one_lane() { 0..ports } else { i..i + 1 };
            let candidates = |o: usize| -> Vec<(usize, Name)> {
                let head = |i: usize| {
                    let head = *switch.queues[i][priority][switch.queue_of(o)].front()?;
                    let wants = self.packets[head].output == o && switch.has_place(&self.packets, head);
                    wants.then_some((i, head))
                };
                inputs.clone().filter_map(head).collect()
            };
            let outputs = if shared { (0..ports).map(|n| (given + n) % ports).collect() } else { vec![o] };
            let Some(&o) = outputs.iter().find(|&&o| !candidates(o).is_empty()) else { return };
            let heads = candidates(o);
            let pointer = switch.admitted[o][priority];
            let chosen = if heads.len() == 1 { heads[0].1 } else { self.pick(d, &heads, pointer) };
            if shared {
                self.switch(d).given[priority] = (o + 1) % ports;
            }
            self.admit_head(d, chosen);
            if self.switch_ref(d).config.queue_quota.is_none() {
                return;
            }
        }
    }

    /// F-59: the head of an input queue takes a place.
    fn admit_head(&mut self, d: usize, name: Name) {
        let packet = &self.packets[name];
        let (i, o, priority, buffer) = (packet.input, packet.output, packet.priority, packet.buffer);
        let switch = self.switch(d);
        let queue = switch.queue_of(o);
        switch.queues[i][priority][queue].pop_front();
        switch.held.remove(&name);
        switch.admitted[o][priority] = i + 1;
        let (fifo, buffer_only) = (switch.is_fifo(), switch.counts_buffer_only(o));
        self.release(d, i, buffer, true);
        self.join_lane(d, name);
        if buffer_only {
            self.count_join(d, name);
        }
        if fifo {
            let switch = self.switch_ref(d);
            if let Some(&next) = switch.queues[i][priority][0].front()
                && switch.has_place(&self.packets, next)
            {
                self.admit_head(d, next);
            }
        }
        self.try_output(d, o);
    }

    /// F-60.
    pub fn switch_done(&mut self, d: usize, o: usize, read: Option<(usize, usize, usize)>) {
        let switch = self.switch_ref(d);
        if switch.is_direct()
            && let Some((i, buffer, _)) = read
        {
            let (ports, matches) = (switch.ports, switch.matches());
            self.port(d, i).reads -= 1;
            self.release(d, i, buffer, true);
            if !matches {
                self.offer(d, i, o);
                return;
            }
            for other in (0..ports).filter(|&other| other != o) {
                let wanted = self.switch_ref(d).lanes[other].iter().any(|lanes| !lanes[i].is_empty());
                if wanted && self.devices[d].ports[other].is_idle() {
                    self.try_output(d, other);
                }
            }
        }
        self.try_output(d, o);
    }

    /// An input can be read again: idle outputs with packets of it are tried, those first that could
    /// start the highest priority of it, among equals those after the one that read such a packet last. `own`
    /// has just finished.
    fn offer(&mut self, d: usize, i: usize, own: usize) {
        let switch = self.switch_ref(d);
        let ports = switch.ports;
        let wanted = |o: usize| switch.lanes[o].iter().any(|lanes| !lanes[i].is_empty());
        let highest = |o: usize| {
            let port = &self.devices[d].ports[o];
            let could = |&p: &usize| {
                let lane = &switch.lanes[o][p][i];
                port.has_credit(p) && may_leave(lane, &self.packets, port).is_some()
            };
            (0..PRIORITIES).rev().find(could)
        };
        let place = |o: usize| {
            let p = highest(o);
            let last = switch.read[i][p.unwrap_or(PRIORITIES)];
            (p.map_or(PRIORITIES, |p| PRIORITIES - 1 - p), (o + ports - last % ports) % ports, o)
        };
        let mut order: Vec<(usize, usize, usize)> = (0..ports)
            .filter(|&o| self.devices[d].ports[o].is_idle() && (wanted(o) || o == own))
            .map(place)
            .collect();
        order.sort_unstable();
        for (_, _, o) in order {
            self.try_output(d, o);
        }
    }

    /// F-68.
    pub fn tick(&mut self, d: usize) {
        let switch = self.switch_ref(d);
        let slot = switch.config.slot.expect("it has a clock").0;
        self.match_once(d);
        self.post(d, 0, self.now + slot, class::TICK, Event::Tick);
    }

    /// F-67, F-68: all idle outputs choose together.
    fn match_once(&mut self, d: usize) {
        let switch = self.switch_ref(d);
        let ports = switch.ports;
        let rounds = match switch.config.arbitration {
            Arbitration::Islip { iterations } if switch.is_direct() => usize::from(iterations),
            _ => usize::MAX,
        };
        // requests[output][input]: the highest priority, and the packet.
        let mut requests: Vec<Vec<Option<(usize, Name)>>> = vec![vec![None; ports]; ports];
        let mut passed_over = vec![false; ports];
        for o in 0..ports {
            if !self.devices[d].ports[o].is_idle() {
                continue;
            }
            for priority in 0..PRIORITIES {
                for (i, place) in self.taking_part(d, o, priority) {
                    if self.devices[d].ports[o].has_credit(priority) {
                        requests[o][i] = Some((priority, switch.lanes[o][priority][i][place]));
                    } else {
                        passed_over[o] = true;
                    }
                }
            }
        }
        let most = if switch.is_direct() { switch.config.reads_per_input.into() } else { usize::MAX };
        let mut reads: Vec<usize> = self.devices[d].ports.iter().map(|port| port.reads).collect();
        let mut matched = vec![false; ports];
        let mut accepted: Vec<Name> = Vec::new();
        for round in 0..rounds {
            // grants[input]: outputs that grant it, with the priority.
            let mut grants: Vec<Vec<(usize, usize)>> = vec![Vec::new(); ports];
            for o in (0..ports).filter(|&o| !matched[o]) {
                let open: Vec<(usize, usize, Name)> = (0..ports)
                    .filter(|&i| reads[i] < most)
                    .filter_map(|i| requests[o][i].map(|(priority, name)| (i, priority, name)))
                    .collect();
                let Some(best) = open.iter().map(|request| request.1).max() else { continue };
                let heads: Vec<(usize, Name)> = open
                    .iter()
                    .filter(|request| request.1 == best)
                    .map(|request| (request.0, request.2))
                    .collect();
                let switch = self.switch_ref(d);
                let pointer = if switch.matches() { switch.grants[o][best] } else { switch.served[o][best] };
                let granted = self.pick(d, &heads, pointer);
                let lane = heads.iter().find(|head| head.1 == granted).expect("one of them").0;
                grants[lane].push((o, best));
            }
            let before = accepted.len();
            for (i, grants) in grants.iter_mut().enumerate() {
                while reads[i] < most && !grants.is_empty() {
                    let best = grants.iter().map(|grant| grant.1).max().expect("there is one");
                    let switch = self.switch_ref(d);
                    let pointer =
                        if switch.matches() { switch.accepts[i][best] } else { switch.read[i][best] };
                    let mut cyclic = (0..ports).map(|step| (pointer + step) % ports);
                    let o = cyclic.find(|&o| grants.contains(&(o, best))).expect("somebody grants it");
                    grants.retain(|&grant| grant != (o, best));
                    matched[o] = true;
                    reads[i] += 1;
                    accepted.push(requests[o][i].expect("it asked").1);
                    if round == 0 && switch.matches() {
                        let switch = self.switch(d);
                        switch.grants[o][best] = (i + 1) % ports;
                        switch.accepts[i][best] = (o + 1) % ports;
                    }
                }
            }
            if accepted.len() == before {
                break;
            }
        }
        for o in (0..ports).filter(|&o| !matched[o]) {
            if self.devices[d].ports[o].is_idle() {
                self.port(d, o).waits_for_credit |= passed_over[o];
            }
        }
        let switch = self.switch_ref(d);
        // F-67: without a clock nobody idles beside somebody who asks, however few rounds there are.
        let idles = |o: usize| {
            let asks = |i: usize| requests[o][i].is_some() && reads[i] < most;
            !matched[o] && (0..ports).any(asks)
        };
        let again = switch.config.slot.is_none() && (0..ports).any(idles);
        let switch = self.switch(d);
        switch.matching = true;
        for name in accepted {
            self.start(d, name, true);
        }
        self.switch(d).matching = false;
        if again && !self.switch_ref(d).match_is_due {
            self.switch(d).match_is_due = true;
            self.post(d, 0, self.now, class::TICK, Event::Match);
        }
    }
}
