//! One packet, from its creation to its end.

use super::Born;
use super::class;
use super::text::{Names, exact, instant};
use models::config::{FabricConfig, LinkConfig};
use models::probe::{Cause, PacketId, PacketStep, ProtocolEvent, ProtocolFact};
use models::sim_core::Time;
use models::{Parts, Probe};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Which packet is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketName {
    /// The number in the run; 1 is the first that was created.
    Number(usize),
    /// As the lines about stalls name it, which know nothing of other sources.
    OfSource {
        /// Path of the device that made it.
        device: String,
        /// Name of its flow.
        flow: String,
        /// Which of the packets of its source it is; 1 is the first.
        number: u32,
    },
}

/// Counts packets: finds the one with a name.
#[derive(Clone, Debug)]
pub struct Census {
    packets: Vec<Born>,
    name: PacketName,
    config: Arc<FabricConfig>,
    /// The packet that has the name, if it is one of a source.
    found: Option<Born>,
}

impl Census {
    /// Looks for this packet.
    pub fn new(config: Arc<FabricConfig>, name: PacketName) -> Self {
        Self { packets: Vec::new(), name, config, found: None }
    }

    /// Whether it is known at `now` which packet that is, and which number it has.
    pub fn is_done(&self, now: Time) -> bool {
        match self.name {
            PacketName::Number(number) => self.settled(&self.config, now) >= number,
            PacketName::OfSource { .. } => {
                self.found.is_some_and(|(at, _)| at.0 + super::margin(&self.config) <= now.0)
            }
        }
    }

    /// Packets whose number is settled at `now`.
    fn settled(&self, config: &FabricConfig, now: Time) -> usize {
        let margin = super::margin(config);
        self.packets.iter().rev().skip_while(|(at, _)| at.0 + margin > now.0).count()
    }

    /// Packets seen.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The packet, and its number in the run.
    pub fn find(mut self) -> Option<(PacketId, usize)> {
        self.packets.sort_unstable();
        let number = match self.name {
            PacketName::Number(number) => number,
            PacketName::OfSource { .. } => self.packets.binary_search(&self.found?).ok()? + 1,
        };
        self.packets.get(number.checked_sub(1)?).map(|(_, id)| (*id, number))
    }
}

impl Probe for Census {
    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        let PacketStep::Created { flow, .. } = step else { return };
        self.packets.push((at, id));
        if let PacketName::OfSource { device, flow: wanted, number } = &self.name
            && id.sequence + 1 == *number
            && self.config.flows[usize::from(*flow)].name == *wanted
            && self.config.devices[id.source as usize].path == *device
        {
            self.found.get_or_insert((at, id));
        }
    }
}

/// Keeps the steps of one packet.
#[derive(Clone, Debug)]
pub struct Life {
    id: PacketId,
    steps: Vec<(Time, PacketStep)>,
    ends: usize,
    /// It is the packet that arrived last: what its host says of a packet now, it says of this one.
    arrived: bool,
    /// Its host had no place for it.
    refused: bool,
}

impl Life {
    /// The life of this packet.
    pub fn new(id: PacketId) -> Self {
        Life { id, steps: Vec::new(), ends: 0, arrived: false, refused: false }
    }

    /// Whether it has ended; copies of a multicast packet may still be on their way.
    pub fn has_ended(&self) -> bool {
        self.ends > 0
    }

    /// The steps as text, or as lines of JSON.
    pub fn tell(&self, config: &FabricConfig, number: usize, json: bool) -> String {
        let names = Names::new(config);
        let mut out = String::new();
        let mut created = Time::ZERO;
        let spent = self.spent(config);
        let mut line = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes text");
        for ((at, step), (spent, late)) in self.steps.iter().zip(&spent) {
            match step {
                PacketStep::Created { destination, flow, priority, payload, wire } => {
                    created = *at;
                    let (source, flow) = (names.device(self.id.source), names.flow(*flow));
                    if json {
                        line(format_args!(
                            "{}",
                            json!({
                                "step": "created", "packet": number, "at_ps": at.0, "device": source,
                                "flow": flow, "destination": destination, "priority": priority,
                                "payload": payload, "wire": wire,
                            })
                        ));
                        continue;
                    }
                    line(format_args!(
                        "packet {number} of flow {flow}: {source} to device id {destination:#x}, {payload} \
                         octets, {wire} on the wire, {}\n",
                        class(*priority)
                    ));
                    line(format_args!("{:>17}  {source}  created", instant(*at)));
                }
                PacketStep::Started { device, port, until, again, .. } => {
                    let place = names.port(*device, *port);
                    if json {
                        let mut told = json!({
                            "step": "started", "at_ps": at.0, "device": names.device(*device),
                            "port": port, "until_ps": until.0 + late, "causes_ps": causes(spent),
                        });
                        if *again {
                            told["again"] = true.into();
                        }
                        line(format_args!("{told}"));
                        continue;
                    }
                    let words = if *again { started_again(spent) } else { start(spent) };
                    line(format_args!("{:>17}  {place}  starts {words}", instant(*at)));
                }
                PacketStep::Cut { device, port } => {
                    let place = names.port(*device, *port);
                    if json {
                        let device = names.device(*device);
                        let told = json!({"step": "cut", "at_ps": at.0, "device": device, "port": port});
                        line(format_args!("{told}"));
                        continue;
                    }
                    line(format_args!("{:>17}  {place}  is cut short", instant(*at)));
                }
                PacketStep::Ended { device, parts } => {
                    let name = names.device(*device);
                    let total = parts.as_ref().map(Parts::total);
                    if json {
                        let spent = parts.as_ref().map(causes);
                        let mut told = json!({
                            "step": if parts.is_some() { "delivered" } else { "dropped" }, "at_ps": at.0,
                            "device": name, "latency_ps": total, "causes_ps": spent,
                        });
                        if self.refused {
                            told["answer"] = "RETRY".into();
                        }
                        line(format_args!("{told}"));
                        continue;
                    }
                    let Some(parts) = parts else {
                        line(format_args!("{:>17}  {name}  dropped", instant(*at)));
                        continue;
                    };
                    let rest = if spent.total() > 0 {
                        format!(": {}", listed(spent, |_| true))
                    } else {
                        String::new()
                    };
                    line(format_args!("{:>17}  {name}  delivered{rest}\n", instant(*at)));
                    for cause in Cause::ALL.into_iter().filter(|cause| parts[*cause] > 0) {
                        line(format_args!("{:>17}  {}", exact(parts[cause]), cause.name()));
                    }
                    assert_eq!(parts.total(), at.0 - created.0, "the parts of a latency add up to it");
                    line(format_args!(
                        "{:>17}  together, from creation to the last bit",
                        exact(parts.total())
                    ));
                    if self.refused {
                        line(format_args!(
                            "\n{:>17}  {name}  answers by RETRY: no place in the host's queue; what it \
                             carried comes again in another packet",
                            instant(*at)
                        ));
                    }
                }
            }
        }
        if self.ends == 0 && !json {
            line(format_args!("{:>17}  still on its way when the run ends", ""));
        }
        out
    }

    /// What each step took: what the packet waited for before, and how long it moves then; and how much
    /// later than a start said it is there, because a switch stores it that was to cut it through.
    fn spent(&self, config: &FabricConfig) -> Vec<(Parts, u64)> {
        let ends = |link: &LinkConfig| [(link.a, link.b.0), (link.b, link.a.0)];
        let next: BTreeMap<(u32, u8), u32> = config.links.iter().flat_map(ends).collect();
        // The step that led to a device, and the parts there: copies go on from what all had at their switch.
        let mut there: BTreeMap<u32, (usize, Parts)> = BTreeMap::new();
        let mut all: Vec<(Parts, u64)> = Vec::new();
        for (n, (at, step)) in self.steps.iter().enumerate() {
            let before = |device| there.get(device).map_or_else(Parts::default, |(_, parts)| *parts);
            let mut spent = Parts::default();
            match step {
                PacketStep::Started { device, port, until, parts, again, .. } => {
                    let to = next.get(&(*device, *port));
                    // What is sent again has spent what came on top since it left first.
                    let earlier = to.filter(|_| *again).unwrap_or(device);
                    spent = difference(parts, &before(earlier));
                    let late = stored(&spent, *at, *until);
                    if let Some((led, parts)) = there.get_mut(device).filter(|_| late > 0) {
                        spent[Cause::Serialization] -= late;
                        parts[Cause::Serialization] += late;
                        all[*led].0[Cause::Serialization] += late;
                        all[*led].1 += late;
                    }
                    if let Some(to) = to {
                        there.insert(*to, (n, *parts));
                    }
                }
                PacketStep::Ended { device, parts: Some(parts) } => {
                    spent = difference(parts, &before(device))
                }
                PacketStep::Created { .. } | PacketStep::Cut { .. } | PacketStep::Ended { .. } => {}
            }
            all.push((spent, 0));
        }
        all
    }
}

impl Life {
    /// The last transmission from this place ends at `at`. Whether it has begun by then; if not, there was
    /// none.
    fn cuts(&mut self, at: Time, place: (u32, u8)) -> bool {
        let is_cut =
            |step: &PacketStep| matches!(step, PacketStep::Cut { device, port } if (*device, *port) == place);
        if self.steps.last().is_some_and(|(_, step)| is_cut(step)) {
            self.steps.pop();
        }
        let last = self.steps.iter().rposition(|(_, step)| start_of(step) == Some(place));
        let Some(last) = last else { return false };
        let begun = self.steps[last].0 < at;
        if !begun {
            self.steps.remove(last);
        }
        begun
    }
}

impl Probe for Life {
    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        let ended = matches!(step, PacketStep::Ended { .. });
        if ended {
            self.arrived = id == self.id;
        }
        if id == self.id {
            if let PacketStep::Cut { device, port } = *step
                && !self.cuts(at, (device, port))
            {
                return;
            }
            self.steps.push((at, *step));
            self.ends += usize::from(ended);
        }
    }

    fn protocol_event(&mut self, event: &ProtocolEvent) {
        let here = |(at, step): &(Time, PacketStep)| {
            *at == event.at && matches!(step, PacketStep::Ended { device, .. } if *device == event.device)
        };
        if event.fact == ProtocolFact::Retried && self.arrived {
            self.refused |= self.steps.last().is_some_and(here);
        }
    }
}

/// The device and the port of a start.
fn start_of(step: &PacketStep) -> Option<(u32, u8)> {
    match step {
        PacketStep::Started { device, port, .. } => Some((*device, *port)),
        PacketStep::Created { .. } | PacketStep::Cut { .. } | PacketStep::Ended { .. } => None,
    }
}

/// What came on top; a copy of a multicast packet begins with the parts of the original.
pub(crate) fn difference(parts: &Parts, before: &Parts) -> Parts {
    let mut spent = *parts;
    for (part, before) in spent.causes.iter_mut().zip(before.causes) {
        *part = part.saturating_sub(before);
    }
    spent.source = spent.source.saturating_sub(before.source);
    spent
}

/// Of the serialization that is told with a start: what was over before it. The rest is that of the link.
pub(crate) fn stored(spent: &Parts, at: Time, until: Time) -> u64 {
    let moves = spent[Cause::Serialization] + spent[Cause::Propagation] + spent[Cause::Pipeline];
    moves.saturating_sub(until.0 - at.0).min(spent[Cause::Serialization])
}

fn causes(parts: &Parts) -> serde_json::Value {
    let spent = Cause::ALL.into_iter().filter(|cause| parts[*cause] > 0);
    spent.map(|cause| (cause.name().to_owned(), serde_json::Value::from(parts[cause]))).collect()
}

fn listed(parts: &Parts, wanted: impl Fn(Cause) -> bool) -> String {
    let spent = Cause::ALL.into_iter().filter(|cause| parts[*cause] > 0 && wanted(*cause));
    let spent: Vec<String> = spent.map(|cause| format!("{} {}", cause.name(), exact(parts[cause]))).collect();
    spent.join(", ")
}

/// A start on a wire: what the packet waited for, and how long it moves then.
fn start(parts: &Parts) -> String {
    let moves = |cause| matches!(cause, Cause::Serialization | Cause::Propagation | Cause::Pipeline);
    let then = listed(parts, moves);
    match listed(parts, |cause| !moves(cause)) {
        waited if waited.is_empty() => format!("on the wire at once; then {then}"),
        waited => format!("on the wire after {waited}; then {then}"),
    }
}

/// A start on a wire that repeats one before: what the packet waited for since then.
fn started_again(parts: &Parts) -> String {
    match listed(parts, |_| true) {
        waited if waited.is_empty() => "again at once".into(),
        waited => format!("again after {waited}"),
    }
}
