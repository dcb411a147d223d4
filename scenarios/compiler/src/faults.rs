//! What goes wrong on purpose, and which links run in symbol granularity for it.

use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::fabric::LONGEST_PACKET;
use crate::spec::*;
use crate::topology::shortened;
use crate::units::time_text;
use models::config::*;
use models::lp_serial::cost::SymbolSize;
use models::sim_core::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Code-groups of a lane within which a port tells its buffers (Part 6 §5.5.3.1).
const STATUS_CODE_GROUPS: u64 = 1_024;
/// Most that a short control symbol tells of free buffers.
const SHORT_BUFFERS_MAX: u8 = 30;
/// Least link timeout that is set by itself, picoseconds.
const TIMEOUT_MIN: u128 = 100_000_000;
/// Characters of the longest packet, with its control symbol.
const PACKET_CHARS_MAX: u64 = LONGEST_PACKET as u64 + 8;
/// Steps of a probability.
const PARTS: f64 = 1e18;

/// A link that needs symbol granularity: what is known of it so far.
struct Detail {
    damage: [Damage; 2],
    /// Where it was asked for; damage or refusals: not behind a switch that cuts through.
    pointer: String,
    refuses: bool,
}

/// When something is not as it should be: from when on, and until when; `None`: for good.
#[derive(Clone, Debug)]
pub(crate) struct Spells<K> {
    /// By what it is about: from, until, and of which entry.
    all: BTreeMap<K, Vec<(u64, Option<u64>, usize)>>,
    /// Where entries stand that have no other effect.
    origins: Vec<Option<String>>,
}

impl<K> Default for Spells<K> {
    fn default() -> Self {
        Spells { all: BTreeMap::new(), origins: vec![None] }
    }
}

impl<K: Ord + Copy> Spells<K> {
    /// What is added next belongs to this entry of the file.
    fn of(&mut self, origin: Option<&str>) {
        self.origins.push(origin.map(str::to_owned));
    }

    pub fn add(&mut self, key: K, from: u64, lasts: Option<u64>) {
        let until = lasts.map(|lasts| from.saturating_add(lasts));
        self.all.entry(key).or_default().push((from, until, self.origins.len() - 1));
    }

    /// Entries that change nothing: another is there whenever one of them is.
    fn covered(&self) -> Vec<&str> {
        let (mut some, mut all) = (vec![false; self.origins.len()], vec![true; self.origins.len()]);
        let end = |until: Option<u64>| until.unwrap_or(u64::MAX);
        for spells in self.all.values() {
            let mut spells = spells.clone();
            spells.sort_unstable_by_key(|&(from, until, entry)| (from, u64::MAX - end(until), entry));
            let mut last = None;
            for (_, until, entry) in spells {
                let until = end(until);
                some[entry] = true;
                // Whatever ends later began earlier.
                all[entry] &= last.is_some_and(|last| until <= last);
                last = last.max(Some(until));
            }
        }
        let entries = self.origins.iter().zip(some.into_iter().zip(all));
        entries.filter(|(_, (some, all))| *some && *all).filter_map(|(origin, _)| origin.as_deref()).collect()
    }

    /// In order; those that overlap, or touch each other, are one.
    pub fn merged(self) -> Vec<(K, u64, Option<u64>)> {
        let mut all: Vec<(K, u64, Option<u64>)> = Vec::new();
        for (key, mut spells) in self.all {
            spells.sort_unstable();
            for (from, until, _) in spells {
                match all.last_mut() {
                    Some((same, _, end)) if *same == key && end.is_none_or(|end| from <= end) => {
                        *end = end.zip(until).map(|(end, until)| end.max(until));
                    }
                    _ => all.push((key, from, until)),
                }
            }
        }
        all
    }
}

impl Compiler<'_> {
    /// Links that run in symbol granularity, and their faults.
    pub fn faults(&mut self, config: &mut FabricConfig) {
        let mut details: BTreeMap<usize, Detail> = BTreeMap::new();
        for (link, wire) in self.wires.iter().enumerate() {
            if wire.receiver || wire.symbolic || wire.channels.is_some() {
                let detail = need(&mut details, link, &wire.pointer);
                detail.refuses |= wire.receiver;
            }
        }
        let spec = filled(&self.spec.faults).clone();
        self.bit_errors(&spec, config, &mut details);
        self.corrupt(&spec, &mut details);
        // A link is down while anything keeps it down, and no end of one fault ends another.
        let (mut faults, mut down) = (Vec::new(), Spells::default());
        self.outages(&spec, &mut details, &mut down);
        self.deaths(&spec, &mut details, &mut down);
        self.lane_losses(&spec, config, &mut details, (&mut faults, &mut down));
        let silent = self.silences(&spec, config, &mut details);
        for pointer in down.covered().into_iter().chain(silent.covered()) {
            self.out.push(changes_nothing(pointer));
        }
        for (link, from, until) in down.merged() {
            faults.push(fault(from, link, FaultAction::Down));
            faults.extend(until.map(|until| fault(until, link, FaultAction::Up)));
        }
        for ((link, side), from, until) in silent.merged() {
            faults.push(fault(from, link, FaultAction::Credits(side as u8, false)));
            faults.extend(until.map(|until| fault(until, link, FaultAction::Credits(side as u8, true))));
        }
        faults.sort_by_key(|fault| (fault.at, fault.link));
        config.faults = faults;
        self.short_symbols(config);
        for (link, mut detail) in details {
            self.check_symbolic(config, link, &detail);
            for damage in &mut detail.damage {
                damage.packets.sort_unstable();
                damage.packets.dedup();
                damage.symbols.sort_unstable();
                damage.symbols.dedup();
            }
            let (wire, own) = (&self.wires[link], &config.links[link]);
            let flow = if wire.receiver { FlowControl::Receiver } else { FlowControl::Transmitter };
            let char_ps =
                |chars: u64| u128::from(chars) * u128::from(own.char_ps.0) / u128::from(own.char_ps.1);
            let pipelines = [own.a, own.b].map(|(device, _)| match &config.devices[device as usize].model {
                DeviceModel::Switch(s) => s.pipeline.0,
                DeviceModel::Endpoint(_) => 0,
            });
            let round =
                2 * u128::from(own.propagation.0) + pipelines.iter().map(|&p| u128::from(p)).sum::<u128>();
            let timeout = TIMEOUT_MIN.max(4 * round + char_ps(128 * PACKET_CHARS_MAX)) as u64;
            // Of the longest packet and of the symbol that acknowledges it, when most lanes are lost.
            let lanes = config.faults.iter().filter_map(|fault| match fault.action {
                FaultAction::Lanes(left) if fault.link == link as u32 => Some(left),
                _ => None,
            });
            let left = lanes.min().unwrap_or(own.lanes);
            let chars = PACKET_CHARS_MAX + 2 * u64::from(wire.symbol.delimiter_chars());
            let least = round + char_ps(chars * u64::from(own.lanes / left));
            let early = wire.timeout.filter(|given| u128::from(*given) < least).map(|given| {
                let width = if left < own.lanes { format!("at {left}x ") } else { String::new() };
                let message = format!(
                    "a link timeout of {} is over before an acknowledgement can be there: {width}the longest \
                     packet and its acknowledgement take {}",
                    time_text(given),
                    time_text(least as u64)
                );
                let help = "leave it out: by default it is four round trips and 128 packets, at least 100 us";
                Diagnostic::error("SC067", format!("{}/timeout", wire.pointer), message).help(help)
            });
            config.symbolic.push(SymbolicLink {
                link: link as u32,
                flow,
                timeout: Duration(wire.timeout.unwrap_or(timeout)),
                status_period: Duration(char_ps(STATUS_CODE_GROUPS * u64::from(own.lanes)) as u64),
                throughout: wire.symbolic,
                channels: wire.channels.clone().map(Box::new),
                damage: detail.damage,
            });
            early.into_iter().for_each(|early| self.once(early));
        }
    }

    /// VoQ messages that are lost.
    pub fn losses(&mut self, config: &mut FabricConfig) {
        let spec = self.spec;
        let losses = filled(&filled(&spec.faults).lose_voq_symbols);
        let mut given: BTreeMap<(usize, u32, u8, u32), usize> = BTreeMap::new();
        for (i, loss) in losses.iter().enumerate() {
            let pointer = format!("/faults/lose_voq_symbols/{i}");
            let Some(device) = self.graph.find(&loss.device) else {
                let names = self.device_names();
                let message = format!("there is no device \"{}\"", loss.device);
                let finding = Diagnostic::error("SC011", format!("{pointer}/device"), message)
                    .help(format!("devices: {}", shortened(names.iter().copied())))
                    .did_you_mean_name(&loss.device, names.iter().copied());
                self.out.push(finding);
                continue;
            };
            let Some(port) = config.devices[device].ports.get(loss.port as usize) else {
                let message = format!("port {} of \"{}\" does not exist", loss.port, loss.device);
                let help = format!("it has ports 0 to {}", self.graph.ports(device) - 1);
                self.out.push(Diagnostic::error("SC012", format!("{pointer}/port"), message).help(help));
                continue;
            };
            let end = (device, loss.port as u8);
            if !port.voq.gen_en && self.voq.enabled && !self.is_port_enabled_later(end) {
                let message = format!("\"{}\" sends no messages through port {}", loss.device, loss.port);
                let help = "choose a port whose neighbour honours messages";
                self.out.push(Diagnostic::error("SC063", pointer, message).help(help));
                continue;
            }
            if let Some(first) = given.insert((device, loss.port, loss.kind as u8, loss.nth), i) {
                let message = "this message is lost already";
                let finding = Diagnostic::error("SC112", pointer, message);
                let finding = finding.also(format!("/faults/lose_voq_symbols/{first}"), "the first one");
                self.out.push(finding.help("leave it out, or choose another \"nth\""));
                continue;
            }
            config.symbol_losses.push(SymbolLoss {
                device: device as u32,
                port: loss.port as u8,
                kind: match loss.kind {
                    LossKindSpec::Any => LossKind::Any,
                    LossKindSpec::Xoff => LossKind::Xoff,
                    LossKindSpec::Xon => LossKind::Xon,
                },
                nth: loss.nth,
            });
        }
    }

    /// Links that are down from the start of the run to its end: a host that sets the fabric up finds none.
    pub fn down_throughout(&self) -> BTreeSet<usize> {
        let spec = filled(&self.spec.faults);
        let outages = spec.outages.iter().flatten();
        let to_the_end = |lasts: &Quantity<Picoseconds>| lasts.get() >= self.run.until.0;
        let cut =
            outages.filter(|outage| outage.at.get() == 0 && outage.lasts.as_ref().is_none_or(to_the_end));
        let mut down: BTreeSet<usize> = cut.flat_map(|outage| self.ends_like(&outage.link)).collect();
        let deaths = spec.dead_devices.iter().flatten().filter(|death| death.at.get() == 0);
        let dead = deaths.filter_map(|death| self.graph.find(&death.device));
        down.extend(dead.flat_map(|device| self.links_of(device)));
        down
    }

    /// Links with an end at a device.
    fn links_of(&self, device: usize) -> impl Iterator<Item = usize> + '_ {
        let edges = self.graph.edges.iter().enumerate();
        edges.filter(move |(_, edge)| edge.a.0 == device || edge.b.0 == device).map(|(link, _)| link)
    }

    /// Links with an end that matches.
    fn ends_like<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = usize> + 'a {
        let matches = move |end: (usize, u8)| self.graph.is_end_like(end, pattern);
        let edges = self.graph.edges.iter().enumerate();
        edges.filter(move |(_, edge)| matches(edge.a) || matches(edge.b)).map(|(link, _)| link)
    }

    /// Links with an end that matches; an error if there is none.
    fn links_like(&mut self, pattern: &str, pointer: &str) -> Vec<usize> {
        let found: Vec<usize> = self.ends_like(pattern).collect();
        if found.is_empty() {
            let names = self.device_names();
            let message = no_match("end of a link", pattern);
            let finding = Diagnostic::error("SC011", pointer.to_owned(), message)
                .help("write \"device:port\", a device for all its links, or \"*\" for all links")
                .did_you_mean_name(pattern, names);
            self.out.push(finding);
        }
        found
    }

    /// The link at a port, and which of its ends that is.
    fn link_at(&mut self, device: &str, port: u32, pointer: &str) -> Option<(usize, usize)> {
        let Some(number) = self.graph.find(device) else {
            let names = self.device_names();
            let message = format!("there is no device \"{device}\"");
            let finding = Diagnostic::error("SC011", format!("{pointer}/device"), message)
                .help(format!("devices: {}", shortened(names.iter().copied())))
                .did_you_mean_name(device, names.iter().copied());
            self.out.push(finding);
            return None;
        };
        let found = self.graph.edges.iter().enumerate().find_map(|(link, edge)| {
            let side = [edge.a, edge.b].into_iter().position(|end| end == (number, port as u8));
            side.map(|side| (link, side))
        });
        if found.is_none() || port > 255 {
            let message = format!("no link ends at port {port} of \"{device}\"");
            self.out.push(Diagnostic::error("SC012", format!("{pointer}/port"), message));
            return None;
        }
        found
    }

    fn bit_errors(&mut self, spec: &FaultSpec, config: &FabricConfig, details: &mut BTreeMap<usize, Detail>) {
        let given: Vec<&BitErrorSpec> = spec.bit_errors.iter().flatten().collect();
        // The last entry about a link counts, as the last of "overrides" does.
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let mut about: Vec<Vec<usize>> = Vec::new();
        for (i, errors) in given.iter().enumerate() {
            let links = self.links_like(&errors.link, &format!("/faults/bit_errors/{i}/link"));
            counts.extend(links.iter().map(|link| (*link, i)));
            about.push(links);
        }
        for (i, links) in about.iter().enumerate() {
            let Some(later) = links.iter().map(|link| counts[link]).max() else { continue };
            if links.iter().any(|link| counts[link] == i) {
                continue;
            }
            let message = "no link has this rate: later entries give each of them another";
            let help = "what is about many links goes first, what is about some of them behind it";
            let finding =
                Diagnostic::error("SC112", format!("/faults/bit_errors/{i}/link"), message).help(help);
            self.once(finding.also(format!("/faults/bit_errors/{later}/link"), "a later one"));
        }
        for (i, errors) in given.into_iter().enumerate() {
            let pointer = format!("/faults/bit_errors/{i}");
            let rates = match &errors.rate {
                BitErrorRate::All(rate) => vec![*rate],
                BitErrorRate::Lanes(rates) => rates.clone(),
            };
            if rates.is_empty() || rates.iter().any(|rate| !(0.0..=0.01).contains(rate)) {
                let message = "a bit error rate is a number from 0 to 0.01";
                self.out.push(Diagnostic::error("SC008", format!("{pointer}/rate"), message));
                continue;
            }
            for link in about[i].iter().copied().filter(|link| counts[link] == i) {
                let lanes = usize::from(config.links[link].lanes);
                if matches!(errors.rate, BitErrorRate::Lanes(_)) && rates.len() != lanes {
                    let message = format!("{} rates for a link of {lanes} lanes", rates.len());
                    let help = "give one rate for each lane, or one number for all";
                    self.once(Diagnostic::error("SC067", format!("{pointer}/rate"), message).help(help));
                    continue;
                }
                // Characters are dealt to the lanes in turn: what counts is the mean of their probabilities.
                let mean = rates.iter().map(|&rate| damaged(rate)).sum::<f64>() / rates.len() as f64;
                let probability = ((mean * PARTS).round() as u64, PARTS as u64);
                let detail = need(details, link, &pointer);
                detail.refuses = true;
                for (side, damage) in detail.damage.iter_mut().enumerate() {
                    let link = &config.links[link];
                    let (device, port) = if side == 0 { link.a } else { link.b };
                    let stream = format!("{}:{port}/errors", config.devices[device as usize].path);
                    damage.errors = Some(BitErrors { stream, probability, burst: *filled(&errors.burst) });
                }
            }
        }
    }

    fn corrupt(&mut self, spec: &FaultSpec, details: &mut BTreeMap<usize, Detail>) {
        let mut given: BTreeMap<(usize, usize, bool, u64), usize> = BTreeMap::new();
        for (i, corrupt) in spec.corrupt.iter().flatten().enumerate() {
            let pointer = format!("/faults/corrupt/{i}");
            let Some((link, side)) = self.link_at(&corrupt.device, corrupt.port, &pointer) else { continue };
            let detail = need(details, link, &pointer);
            detail.refuses = true;
            let list = match corrupt.what {
                CorruptKind::Packet => &mut detail.damage[side].packets,
                CorruptKind::Symbol => &mut detail.damage[side].symbols,
            };
            match given.insert((link, side, matches!(corrupt.what, CorruptKind::Packet), corrupt.nth), i) {
                None => list.push(corrupt.nth),
                Some(first) => {
                    let message = "this is damaged already: what is sent once is damaged once";
                    let finding = Diagnostic::error("SC112", pointer, message);
                    let finding = finding.also(format!("/faults/corrupt/{first}"), "the first one");
                    self.out.push(finding.help("leave it out, or choose another \"nth\""));
                }
            }
        }
    }

    fn outages(&mut self, spec: &FaultSpec, details: &mut BTreeMap<usize, Detail>, down: &mut Spells<usize>) {
        for (i, outage) in spec.outages.iter().flatten().enumerate() {
            let pointer = format!("/faults/outages/{i}");
            let times = *filled(&outage.times);
            let at = outage.at.get();
            let [lasts, every] = [&outage.lasts, &outage.every].map(|time| time.as_ref().map(Quantity::get));
            let links = self.links_like(&outage.link, &format!("{pointer}/link"));
            // Without "for" it stays down, and nothing comes again.
            if times > 1 && (lasts.is_none() || every <= lasts) {
                let message = "a link that goes down more than once has to come back before that";
                let help = "give \"for\", and an \"every\" that is longer";
                self.out.push(Diagnostic::error("SC050", pointer, message).help(help));
                continue;
            }
            let last = at.saturating_add(u64::from(times - 1).saturating_mul(every.unwrap_or(0)));
            if at <= self.run.until.0 && last > self.run.until.0 {
                let within = 1 + (self.run.until.0 - at) / every.unwrap_or(1);
                let message = format!(
                    "of {times} times the run sees {within}: it is over at {}",
                    time_text(self.run.until.0)
                );
                let help = "fewer of them, a shorter period, or a longer \"run.until\"";
                let found = Diagnostic::error("SC120", format!("{pointer}/times"), message).help(help);
                self.out.push(found.beyond_run());
            }
            down.of(Some(&pointer));
            for link in links {
                need(details, link, &pointer).refuses = true;
                for n in 0..u64::from(times) {
                    down.add(link, at.saturating_add(n * every.unwrap_or(0)), lasts);
                }
            }
        }
    }

    fn lane_losses(
        &mut self,
        spec: &FaultSpec,
        config: &FabricConfig,
        details: &mut BTreeMap<usize, Detail>,
        (faults, down): (&mut Vec<Fault>, &mut Spells<usize>),
    ) {
        let others = down.clone().merged();
        for (i, loss) in spec.lane_losses.iter().flatten().enumerate() {
            let pointer = format!("/faults/lane_losses/{i}");
            let (at, retrain) = (loss.at.get(), loss.retrain.get());
            let width = filled(&loss.width).get();
            let links = self.links_like(&loss.link, &format!("{pointer}/link"));
            // Lanes are lost besides, unless the link never comes back to be without them.
            let is_gone = |link: &usize| {
                let gone = |&(other, from, until): &(usize, u64, Option<u64>)| {
                    other == *link && from <= at && until.is_none_or(|until| until > self.run.until.0)
                };
                others.iter().any(gone)
            };
            if !links.is_empty() && links.iter().all(is_gone) {
                self.out.push(changes_nothing(&pointer));
            }
            down.of(None);
            for link in links {
                let before = config.links[link].lanes;
                if self.wires[link].medium.is_some() {
                    // It has no lanes; that it has no such faults is said with the others.
                    need(details, link, &pointer).refuses = true;
                    continue;
                }
                if width >= before {
                    let message = format!("a link of {before} lanes cannot fall back to {width}");
                    self.once(Diagnostic::error("SC067", format!("{pointer}/width"), message));
                    continue;
                }
                need(details, link, &pointer).refuses = true;
                faults.push(fault(at, link, FaultAction::Lanes(width)));
                down.add(link, at, Some(retrain));
            }
        }
    }

    fn silences(
        &mut self,
        spec: &FaultSpec,
        config: &FabricConfig,
        details: &mut BTreeMap<usize, Detail>,
    ) -> Spells<(usize, usize)> {
        let mut silent = Spells::default();
        for (i, silence) in spec.silent_credits.iter().flatten().enumerate() {
            let pointer = format!("/faults/silent_credits/{i}");
            let (at, lasts) = (silence.at.get(), silence.lasts.as_ref().map(Quantity::get));
            let found = self.link_at(&silence.device, silence.port, &pointer);
            let Some((link, side)) = found else { continue };
            if self.wires[link].receiver {
                let message = "with receiver-controlled flow control no port tells free buffers";
                self.out.push(Diagnostic::error("SC067", pointer, message));
                continue;
            }
            debug_assert!(link < config.links.len());
            need(details, link, &pointer);
            silent.of(Some(&pointer));
            silent.add((link, side), at, lasts);
        }
        silent
    }

    fn deaths(&mut self, spec: &FaultSpec, details: &mut BTreeMap<usize, Detail>, down: &mut Spells<usize>) {
        for (i, death) in spec.dead_devices.iter().flatten().enumerate() {
            let pointer = format!("/faults/dead_devices/{i}");
            let at = death.at.get();
            let Some(number) = self.graph.find(&death.device) else {
                let names = self.device_names();
                let message = format!("there is no device \"{}\"", death.device);
                let finding = Diagnostic::error("SC011", format!("{pointer}/device"), message)
                    .help(format!("devices: {}", shortened(names.iter().copied())))
                    .did_you_mean_name(&death.device, names.iter().copied());
                self.out.push(finding);
                continue;
            };
            down.of(Some(&pointer));
            for link in self.links_of(number) {
                need(details, link, &pointer).refuses = true;
                down.add(link, at, None);
            }
        }
    }

    /// What symbol granularity asks of a link.
    fn check_symbolic(&mut self, config: &FabricConfig, link: usize, detail: &Detail) {
        let own = &config.links[link];
        let ends = [own.a, own.b].map(|(device, _)| &config.devices[device as usize]);
        if let Some((medium, _)) = self.wires[link].medium {
            let message = format!("links of {} have no such faults", medium.name());
            let help = "frames of a flow can be lost, doubled and late: st.loss, st.doubled, st.delayed";
            self.once(Diagnostic::error("SC080", detail.pointer.clone(), message).help(help));
        } else if self.wires[link].symbol == SymbolSize::Idle3 {
            let names = ends.map(|device| device.path.clone());
            let message =
                format!("the 64b/67b link {} - {} runs in packet granularity only", names[0], names[1]);
            let help = "use a link of 6.25 Gbaud or less";
            self.once(Diagnostic::error("SC067", detail.pointer.clone(), message).help(help));
        }
        if !detail.refuses {
            return;
        }
        for device in ends {
            let DeviceModel::Switch(switch) = &device.model else { continue };
            if switch.forwarding != Forwarding::StoreAndForward {
                let message = format!("\"{}\" cuts packets through that may turn out to be bad", device.path);
                let help = "use \"forwarding\": \"store_and_forward\" for it";
                self.once(Diagnostic::error("SC068", detail.pointer.clone(), message).help(help));
            }
        }
    }

    /// A short control symbol cannot tell of more than 30 buffers.
    fn short_symbols(&mut self, config: &FabricConfig) {
        for (link, wire) in self.wires.iter().enumerate() {
            if wire.symbol != SymbolSize::Short {
                continue;
            }
            for (device, port) in [config.links[link].a, config.links[link].b] {
                let buffers = config.devices[device as usize].ports[usize::from(port)].buffers;
                if buffers > SHORT_BUFFERS_MAX {
                    let name = &self.graph.nodes[device as usize].name;
                    let message = format!(
                        "\"{name}\" has {buffers} receive buffers, but a short control symbol tells of \
                         {SHORT_BUFFERS_MAX}"
                    );
                    let pointer = format!("{}/input_buffers", self.devices[device as usize].origin);
                    let help = "use long control symbols, or fewer buffers";
                    let finding = Diagnostic::error("SC030", pointer, message).help(help);
                    if !self.out.iter().any(|known| known.code == "SC030" && known.pointer == finding.pointer)
                    {
                        self.out.push(finding);
                    }
                }
            }
        }
    }
}

fn need<'a>(details: &'a mut BTreeMap<usize, Detail>, link: usize, pointer: &str) -> &'a mut Detail {
    details.entry(link).or_insert_with(|| Detail {
        damage: Default::default(),
        pointer: pointer.to_owned(),
        refuses: false,
    })
}

fn changes_nothing(pointer: &str) -> Diagnostic {
    let message = "this changes nothing: other faults are there all the time that it lasts";
    let help = "nothing to do if that is meant; otherwise another time";
    Diagnostic::warning("SC114", pointer, message).help(help)
}

fn fault(at: u64, link: usize, action: FaultAction) -> Fault {
    Fault { at: Time(at), link: link as u32, action }
}

/// Probability that a character of 10 bits is damaged: 1 - (1 - rate)^10, without the cancellation of small
/// rates.
fn damaged(rate: f64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..10 {
        sum += rate * (1.0 - sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_has_ten_bits() {
        assert_eq!(damaged(0.0), 0.0);
        assert!((damaged(1e-12) / 1e-11 - 1.0).abs() < 1e-10);
        assert!((damaged(0.01) - (1.0 - 0.99f64.powi(10))).abs() < 1e-12);
    }
}
