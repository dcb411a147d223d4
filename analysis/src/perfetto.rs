//! A run as tracks over time, in the form that Perfetto reads: TrackEvent protocol buffers.
//!
//! Perfetto keeps nanoseconds. Instants are rounded down, which keeps their order; the picoseconds are
//! annotations. Field numbers are those of Perfetto's `trace.proto`, `track_event.proto` and what they
//! include.

mod protobuf;

use crate::trace::{Filter, Names, difference, fact_name, stored};
use models::Probe;
use models::config::FabricConfig;
use models::probe::{Cause, PacketId, PacketStep, Parts, ProtocolEvent, ProtocolFact, StagingEdge};
use models::sim_core::Time;
use protobuf::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A track: what belongs to a device lies below it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Track {
    /// All of a device.
    Device(u32),
    /// Packets that leave through a port.
    Sends(u32, u8),
    /// Packets that wait for it.
    Waiting(u32, u8),
    /// A staging queue of it is stopped, in a virtual channel.
    Stopped(u32, u8, u8, u8),
    /// Packets that end at a device.
    Ends(u32),
    /// What its protocols meet.
    Facts(u32),
    /// Conduits and connections that are complete at this end.
    Open(u32),
}

impl Track {
    const fn device(self) -> u32 {
        match self {
            Self::Device(device) | Self::Ends(device) | Self::Facts(device) | Self::Open(device) => device,
            Self::Sends(device, _) | Self::Waiting(device, _) | Self::Stopped(device, ..) => device,
        }
    }

    const fn is_counter(self) -> bool {
        matches!(self, Self::Waiting(..) | Self::Open(_))
    }

    fn name(self, names: &Names<'_>) -> String {
        match self {
            Self::Device(device) => names.device(device).to_owned(),
            Self::Sends(device, port) => format!("{} sends", names.port(device, port)),
            Self::Waiting(device, port) => format!("{} packets waiting", names.port(device, port)),
            Self::Stopped(device, port, channel, queue) => {
                let of = if channel > 0 { format!(" of VC{channel}") } else { String::new() };
                format!("{} staging queue {queue}{of}", names.port(device, port))
            }
            Self::Ends(_) => "packets that end here".into(),
            Self::Facts(_) => "protocols".into(),
            Self::Open(_) => "conduits and connections".into(),
        }
    }
}

/// What a track shows at an instant.
#[derive(Clone, Debug)]
enum Mark {
    Begin(Packet),
    /// Of a slice without packet.
    BeginNamed(&'static str),
    End,
    /// A packet ends, delivered or not.
    Last(PacketId, bool),
    Note(&'static str),
    Count(i64),
}

/// A packet that leaves.
#[derive(Clone, Debug)]
struct Packet {
    id: PacketId,
    flow: u16,
    destination: u32,
    payload: u16,
    spent: Parts,
}

/// What is known of a packet that has not ended.
#[derive(Clone, Debug)]
struct Known {
    flow: u16,
    destination: u32,
    payload: u16,
}

/// Keeps what tracks show.
#[derive(Debug)]
pub struct Tracks {
    config: Arc<FabricConfig>,
    filter: Filter,
    /// By device and port: the device at the other end.
    links: BTreeMap<(u32, u8), u32>,
    known: BTreeMap<PacketId, Known>,
    /// When a packet was at a device, and where its time had gone until then.
    there: BTreeMap<(PacketId, u32), (Time, Parts)>,
    /// Packets of which a start at this port came to nothing.
    unstarted: BTreeSet<(PacketId, u32, u8)>,
    marks: BTreeMap<Track, Vec<(Time, Mark)>>,
    /// Changes of counters.
    steps: BTreeMap<Track, Vec<(Time, i64)>>,
    last: Time,
}

impl Tracks {
    /// Of the devices, flows and the time of a filter.
    #[must_use]
    pub fn new(config: Arc<FabricConfig>, filter: Filter) -> Self {
        let mut links = BTreeMap::new();
        for link in &config.links {
            links.insert(link.a, link.b.0);
            links.insert(link.b, link.a.0);
        }
        Self {
            config,
            filter,
            links,
            known: BTreeMap::new(),
            there: BTreeMap::new(),
            unstarted: BTreeSet::new(),
            marks: BTreeMap::new(),
            steps: BTreeMap::new(),
            last: Time::ZERO,
        }
    }

    fn mark(&mut self, track: Track, at: Time, mark: Mark) {
        self.last = self.last.max(at);
        self.marks.entry(track).or_default().push((at, mark));
    }

    fn step(&mut self, track: Track, at: Time, change: i64) {
        self.last = self.last.max(at);
        self.steps.entry(track).or_default().push((at, change));
    }

    /// A packet leaves a device; `again`: its link repeats it, for which it waits in no queue.
    fn started(
        &mut self,
        (at, id): (Time, PacketId),
        (device, port): (u32, u8),
        [ends, until]: [Time; 2],
        again: bool,
        parts: Parts,
    ) {
        let Some(known) = self.known.get(&id).cloned() else { return };
        let Known { flow, destination, payload } = known;
        let to = self.links[&(device, port)];
        let (came, before) = self.there.get(&(id, device)).copied().unwrap_or((at, Parts::default()));
        let earlier = self.there.insert((id, to), (until, parts)).filter(|_| again);
        if !self.filter.passes(at, &[device], Some(flow)) {
            return;
        }
        let spent = difference(&parts, &earlier.map_or(before, |(_, parts)| parts));
        let packet = Packet { id, flow, destination, payload, spent };
        // What a switch stores first does not wait before it is there.
        let came = Time(came.0 + stored(&spent, at, until));
        let sends = Track::Sends(device, port);
        self.mark(sends, at, Mark::Begin(packet));
        self.mark(sends, ends, Mark::End);
        if !again {
            if !self.unstarted.remove(&(id, device, port)) {
                self.step(Track::Waiting(device, port), came, 1);
            }
            self.step(Track::Waiting(device, port), at, -1);
        }
    }

    /// The last transmission of a packet from a port ends at `at`; if it has not begun by then, there was
    /// none, and the packet waits on.
    fn cut(&mut self, at: Time, id: PacketId, (device, port): (u32, u8)) {
        let Some(marks) = self.marks.get_mut(&Track::Sends(device, port)) else { return };
        let is_its = |mark: &Mark| matches!(mark, Mark::Begin(packet) if packet.id == id);
        let Some(begin) = marks.iter().rposition(|(_, mark)| is_its(mark)) else { return };
        let begun = marks[begin].0;
        if begun < at {
            marks[begin + 1].0 = at;
            return;
        }
        marks.drain(begin..begin + 2);
        self.unstarted.insert((id, device, port));
        self.step(Track::Waiting(device, port), begun, 1);
    }

    /// The file, and how many packets and other marks are in it.
    #[must_use]
    pub fn to_protobuf(mut self) -> (Vec<u8>, usize) {
        self.close();
        let steps = std::mem::take(&mut self.steps);
        for (track, mut changes) in steps {
            changes.sort_unstable();
            let mut sum = 0;
            let counts = self.marks.entry(track).or_default();
            for (at, change) in changes {
                sum += change;
                // One value for each instant.
                if counts.last().is_some_and(|(last, _)| *last == at) {
                    counts.pop();
                }
                counts.push((at, Mark::Count(sum)));
            }
        }
        let names = Names::new(&self.config);
        let devices = self.marks.keys().map(|track| Track::Device(track.device()));
        let tracks: BTreeSet<Track> = devices.chain(self.marks.keys().copied()).collect();
        // 0 stands for the trace as a whole.
        let uuids: BTreeMap<Track, u64> = tracks.into_iter().zip(1..).collect();
        let mut file = Vec::new();
        for (track, uuid) in &uuids {
            let mut descriptor = Message::new();
            descriptor.number(1, *uuid).text(2, &track.name(&names));
            if *track != Track::Device(track.device()) {
                descriptor.number(5, uuids[&Track::Device(track.device())]);
            }
            if track.is_counter() {
                descriptor.message(8, &Message::new());
            }
            packet(&mut file, 0, 60, &descriptor);
        }
        let mut numbers: BTreeMap<PacketId, u64> = BTreeMap::new();
        let mut events: Vec<(Time, Track, Mark)> = Vec::new();
        for (track, marks) in &mut self.marks {
            marks.sort_by_key(|(at, _)| *at);
            events.extend(marks.drain(..).map(|(at, mark)| (at, *track, mark)));
        }
        let count = events.len();
        // What is of one track and instant keeps its order.
        events.sort_by_key(|(at, ..)| *at);
        for (at, track, mark) in events {
            let mut number = |id: PacketId| {
                let next = numbers.len() as u64 + 1;
                *numbers.entry(id).or_insert(next)
            };
            let event = self.event(&names, at, uuids[&track], &mark, &mut number);
            packet(&mut file, at.0 / 1_000, 11, &event);
        }
        (file, count)
    }

    /// What is still stopped ends with the trace.
    fn close(&mut self) {
        let open = |marks: &[(Time, Mark)]| {
            marks
                .iter()
                .max_by_key(|(at, _)| *at)
                .is_some_and(|(_, mark)| matches!(mark, Mark::BeginNamed(_)))
        };
        for marks in self.marks.values_mut() {
            if open(marks) {
                marks.push((self.last, Mark::End));
            }
        }
    }

    fn event(
        &self,
        names: &Names<'_>,
        at: Time,
        uuid: u64,
        mark: &Mark,
        number: &mut impl FnMut(PacketId) -> u64,
    ) -> Message {
        const BEGIN: u64 = 1;
        const END: u64 = 2;
        const INSTANT: u64 = 3;
        const COUNTER: u64 = 4;
        let mut event = Message::new();
        let note = |event: &mut Message, name: &str, value: Result<u64, &str>| {
            let mut annotation = Message::new();
            match value {
                Ok(value) => annotation.number(3, value),
                Err(text) => annotation.text(6, text),
            };
            event.message(4, annotation.text(10, name));
        };
        event.number(11, uuid);
        match mark {
            Mark::Begin(packet) => {
                event.number(9, BEGIN).text(22, "packet").text(23, names.flow(packet.flow));
                note(&mut event, "from", Err(names.device(packet.id.source)));
                note(&mut event, "destination id", Ok(packet.destination.into()));
                note(&mut event, "octets", Ok(packet.payload.into()));
                for cause in Cause::ALL.into_iter().filter(|cause| packet.spent[*cause] > 0) {
                    note(&mut event, &format!("{} ps", cause.name()), Ok(packet.spent[cause]));
                }
                event.fixed(47, number(packet.id));
            }
            Mark::BeginNamed(name) => {
                event.number(9, BEGIN).text(22, "staging").text(23, name);
            }
            Mark::End => {
                event.number(9, END);
            }
            Mark::Last(id, delivered) => {
                let name = if *delivered { "delivered" } else { "dropped" };
                event.number(9, INSTANT).text(22, "packet").text(23, name).fixed(48, number(*id));
            }
            Mark::Note(name) => {
                event.number(9, INSTANT).text(22, "protocol").text(23, name);
            }
            Mark::Count(value) => {
                event.number(9, COUNTER).number(30, *value as u64);
            }
        }
        if !matches!(mark, Mark::Count(_)) {
            note(&mut event, "at ps", Ok(at.0));
        }
        event
    }
}

/// A packet of the trace: descriptor or event as its field `what`.
fn packet(file: &mut Vec<u8>, at: u64, what: u32, content: &Message) {
    let mut packet = Message::new();
    packet.number(8, at).number(10, 1).message(what, content);
    let mut whole = Message::new();
    whole.message(1, &packet);
    file.extend(whole.octets());
}

impl Probe for Tracks {
    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        match *step {
            PacketStep::Created { destination, flow, payload, .. } => {
                self.known.insert(id, Known { flow, destination, payload });
                self.there.insert((id, id.source), (at, Parts::default()));
            }
            PacketStep::Started { device, port, ends, again, until, parts } => {
                self.started((at, id), (device, port), [ends, until], again, parts);
            }
            PacketStep::Cut { device, port } => self.cut(at, id, (device, port)),
            PacketStep::Ended { device, parts } => {
                if let Some(known) = self.known.get(&id)
                    && self.filter.passes(at, &[device], Some(known.flow))
                {
                    self.mark(Track::Ends(device), at, Mark::Last(id, parts.is_some()));
                }
            }
        }
    }

    fn staging_edge(&mut self, edge: &StagingEdge) {
        let StagingEdge { at, device, port, queue, channel, stopped } = *edge;
        if self.filter.passes(at, &[device], None) {
            let track = Track::Stopped(device, port, channel, queue);
            let begun = self.marks.get(&track).is_some_and(|marks| !marks.is_empty());
            match stopped {
                true => self.mark(track, at, Mark::BeginNamed("stopped")),
                // It may have been stopped before the first instant of the filter.
                false if begun => self.mark(track, at, Mark::End),
                false => {}
            }
        }
    }

    fn protocol_event(&mut self, event: &ProtocolEvent) {
        let ProtocolEvent { at, flow, device, fact } = *event;
        if self.filter.passes(at, &[device], Some(flow)) {
            match fact {
                ProtocolFact::ConduitOpen | ProtocolFact::Connected => self.step(Track::Open(device), at, 1),
                ProtocolFact::ConduitEnded | ProtocolFact::Disconnected => {
                    self.step(Track::Open(device), at, -1);
                }
                _ => {}
            }
            self.mark(Track::Facts(device), at, Mark::Note(fact_name(fact)));
        }
    }
}
