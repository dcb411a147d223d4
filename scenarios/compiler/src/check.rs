//! Checks that need no fabric (quantities) and checks that need all of it (physics).

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::fabric::{self, priorities};
use crate::presets;
use crate::quantities::Quantities;
use crate::source;
use crate::spec::*;
use crate::topology::{check_title, is_file_name};
use crate::units;
use models::config::*;
use models::lp_serial::cost::LaneRate;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The lane rates, for messages.
pub(crate) const LANE_RATES: &str =
    "allowed: 1.25, 2.5, 3.125, 5, 6.25 Gbaud (8b/10b), 10.3125, 12.5, 25.78125 Gbaud (64b/67b)";

/// Longest obey latency, ps: shorter than the initialisation of a link.
const OBEY_MOST: u64 = 1_000_000;

/// Reads every quantity of the file where it stands, so that an error names that place.
pub(crate) fn quantities(spec: &Spec, out: &mut Vec<Diagnostic>) {
    is_file_name("/name", &spec.name, "a folder of results", out);
    check_title("/title", spec.title.as_ref(), out);
    let media = spec.links.as_ref().is_some_and(|links| crate::medium::named(links.medium).is_some());
    let mut q = Quantities { out, media };
    q.run(filled(&spec.run));
    q.link("/links", spec.links.as_ref());
    q.switch("/switch", spec.switch.as_ref());
    q.endpoint("/endpoint", spec.endpoint.as_ref());
    for (i, change) in spec.overrides.iter().flatten().enumerate() {
        let at = format!("/overrides/{i}");
        q.switch(&format!("{at}/switch"), change.switch.as_ref());
        q.endpoint(&format!("{at}/endpoint"), change.endpoint.as_ref());
        q.link(&format!("{at}/links"), change.links.as_ref());
        q.port_voq(&at, change.voq.as_ref());
        q.complete(&at, change);
    }
    if let Topology::Explicit(explicit) = &spec.topology {
        for (i, link) in explicit.links.iter().enumerate() {
            q.link(&format!("/topology/explicit/links/{i}/set"), link.set.as_ref());
        }
    }
    q.voq(spec.voq.as_ref());
    q.faults(filled(&spec.faults));
    for (i, require) in spec.require.iter().flatten().enumerate() {
        for (metric, limit) in &require.metrics {
            q.value(&format!("/require/{i}/{}", source::escape(metric)), Some(limit));
        }
    }
    for (i, flow) in spec.traffic.iter().enumerate() {
        q.flow(&format!("/traffic/{i}"), flow);
    }
}

impl Quantities<'_> {
    fn run(&mut self, run: &RunSpec) {
        let until = self.value("/run/until", run.until.as_ref());
        if until == Some(0) {
            let message = "a run of no length shows nothing";
            self.out.push(Diagnostic::error("SC008", "/run/until", message).help("for example \"1 ms\""));
        }
        let warmup = self.value("/run/warmup", run.warmup.as_ref());
        if let (Some(until), Some(Period::Time(warmup))) = (until.filter(|t| *t > 0), warmup)
            && warmup >= until
        {
            let message = format!("the warm-up of {} leaves nothing of the run", units::time_text(warmup));
            let help = format!("allowed: less than {}", units::time_text(until));
            self.out.push(Diagnostic::error("SC050", "/run/warmup", message).help(help));
        }
        for (key, text) in [("sample_every", &run.sample_every), ("stall_after", &run.stall_after)] {
            let at = format!("/run/{key}");
            if self.value(&at, text.as_ref()) == Some(Period::Time(0)) {
                let message = "a time of 0 is not possible here";
                self.out.push(Diagnostic::error("SC008", at, message).help("use \"off\" or a positive time"));
            }
        }
    }

    fn link(&mut self, at: &str, link: Option<&LinkSpec>) {
        let Some(link) = link else { return };
        // Whether it is one of its medium is seen when all settings of a link are together.
        let other = self.media || crate::medium::named(link.medium).is_some();
        let foreign = other || link.rate.as_ref().is_some_and(|text| text.to_string().ends_with("b/s"));
        if let Some(rate) = link.rate.as_ref().filter(|_| foreign) {
            self.report(&format!("{at}/rate"), rate.get().data);
        } else if let Some(text) = &link.rate
            && let Some(baud) = self.report(&format!("{at}/rate"), text.get().lane)
            && !LaneRate::ALL.iter().any(|rate| rate.kbaud() * 1_000 == baud)
        {
            let message = format!("\"{text}\" is not a lane rate of RapidIO");
            self.out.push(Diagnostic::error("SC038", format!("{at}/rate"), message).help(LANE_RATES));
        }
        self.value(&format!("{at}/width"), link.width.as_ref());
        self.value(&format!("{at}/length"), link.length.as_ref());
        self.value(&format!("{at}/phy_latency"), link.phy_latency.as_ref());
        if self.value(&format!("{at}/timeout"), link.timeout.as_ref()) == Some(0) {
            let message = "a time of 0 is not possible here";
            self.out.push(Diagnostic::error("SC008", format!("{at}/timeout"), message));
        }
    }

    fn preset(&mut self, at: &str, name: Option<&String>, all: &[presets::Preset]) {
        let Some(name) = name else { return };
        let names: Vec<&str> = all.iter().map(|preset| preset.name).collect();
        if !names.contains(&name.as_str()) {
            self.out.push(
                Diagnostic::error("SC010", format!("{at}/device"), format!("there is no preset \"{name}\""))
                    .help(format!("allowed: {}", names.join(", ")))
                    .did_you_mean(name, names),
            );
        }
    }

    fn switch(&mut self, at: &str, switch: Option<&SwitchSpec>) {
        let Some(switch) = switch else { return };
        self.port_voq(at, switch.voq.as_ref());
        self.preset(at, switch.device.as_ref(), presets::SWITCHES);
        self.value(&format!("{at}/pipeline"), switch.pipeline.as_ref());
        let slot = format!("{at}/slot");
        if self.value(&slot, switch.slot.as_ref()) == Some(Period::Time(0)) {
            let message = "a cell clock with a period of 0 does not tick";
            self.out.push(Diagnostic::error("SC008", slot, message).help("use \"off\" or a positive time"));
        }
    }

    fn endpoint(&mut self, at: &str, endpoint: Option<&EndpointSpec>) {
        let Some(endpoint) = endpoint else { return };
        self.port_voq(at, endpoint.voq.as_ref());
        self.preset(at, endpoint.device.as_ref(), presets::ENDPOINTS);
        for kind in crate::flow::KINDS {
            kind.read_endpoint(self, at, endpoint);
        }
        let Some(host) = &endpoint.host else { return };
        let at = format!("{at}/host");
        self.service(&format!("{at}/rx_service"), host.rx_service.as_ref());
        self.service(&format!("{at}/tx_service"), host.tx_service.as_ref());
        self.value(&format!("{at}/retry_delay"), host.retry_delay.as_ref());
        let at = format!("{at}/response_timeout");
        let given = self.value(&at, host.response_timeout.as_ref());
        self.patience(at, given == Some(Period::Time(0)));
    }

    /// An override names what it matches and what it changes.
    fn complete(&mut self, at: &str, change: &OverrideSpec) {
        let devices = change.switch.is_some() || change.endpoint.is_some();
        let pairs = [
            ("devices", change.devices.is_some(), "switch\" or \"endpoint", devices),
            ("port", change.port.is_some(), "voq", change.voq.is_some()),
            ("link", change.link.is_some(), "links", change.links.is_some()),
        ];
        for (pattern, has_pattern, settings, has_settings) in pairs {
            if has_pattern != has_settings {
                let (given, missing) = if has_pattern { (pattern, settings) } else { (settings, pattern) };
                let message = format!("\"{given}\" changes nothing without \"{missing}\"");
                self.out.push(Diagnostic::error("SC064", at, message).help(format!("add \"{missing}\"")));
            }
        }
        if pairs.iter().all(|pair| !pair.1 && !pair.3) {
            let message = "an override needs \"devices\", \"port\" or \"link\"";
            self.out.push(Diagnostic::error("SC064", at, message));
        }
    }

    fn voq(&mut self, voq: Option<&VoqSpec>) {
        let Some(voq) = voq else { return };
        self.judgement("/voq", voq.thresholds, voq.refresh.as_ref());
        self.value("/voq/generation_delay", voq.generation_delay.as_ref());
        self.obey_latency("/voq", voq.obey_latency.as_ref());
        for (i, write) in voq.writes.iter().flatten().enumerate() {
            let at = format!("/voq/writes/{i}");
            self.value(&format!("{at}/at"), Some(&write.at));
            let bits = [write.gen_en, write.part, write.xoff];
            if bits.iter().all(Option::is_none) && write.thresholds.is_none() {
                let message = "this write changes nothing";
                let help = "give \"gen_en\", \"part\", \"xoff\" or \"thresholds\"";
                self.out.push(Diagnostic::error("SC082", at.clone(), message).help(help));
            }
            self.judgement(&at, write.thresholds, None);
        }
    }

    fn faults(&mut self, faults: &FaultSpec) {
        for (i, outage) in faults.outages.iter().flatten().enumerate() {
            let at = format!("/faults/outages/{i}");
            self.value(&format!("{at}/at"), Some(&outage.at));
            self.lasting(&format!("{at}/for"), outage.lasts.as_ref());
            self.lasting(&format!("{at}/every"), outage.every.as_ref());
        }
        for (i, loss) in faults.lane_losses.iter().flatten().enumerate() {
            let at = format!("/faults/lane_losses/{i}");
            self.value(&format!("{at}/at"), Some(&loss.at));
            self.lasting(&format!("{at}/retrain"), Some(&loss.retrain));
            self.value(&format!("{at}/width"), loss.width.as_ref());
        }
        for (i, silence) in faults.silent_credits.iter().flatten().enumerate() {
            let at = format!("/faults/silent_credits/{i}");
            self.value(&format!("{at}/at"), Some(&silence.at));
            self.lasting(&format!("{at}/for"), silence.lasts.as_ref());
        }
        for (i, death) in faults.dead_devices.iter().flatten().enumerate() {
            self.value(&format!("/faults/dead_devices/{i}/at"), Some(&death.at));
        }
    }

    /// A time that is not 0.
    fn lasting(&mut self, at: &str, time: Option<&Quantity<Picoseconds>>) {
        if self.value(at, time) == Some(0) {
            self.out.push(Diagnostic::error("SC008", at, "a time of 0 is not possible here"));
        }
    }

    fn port_voq(&mut self, at: &str, voq: Option<&PortVoqSpec>) {
        let Some(voq) = voq else { return };
        let at = format!("{at}/voq");
        self.judgement(&at, voq.thresholds, voq.refresh.as_ref());
        self.value(&format!("{at}/generation_delay"), voq.generation_delay.as_ref());
        self.obey_latency(&at, voq.obey_latency.as_ref());
    }

    /// When a port is congested, and how often it says so.
    fn judgement(
        &mut self,
        at: &str,
        thresholds: Option<Thresholds>,
        refresh: Option<&Quantity<RefreshTime>>,
    ) {
        if let Some(thresholds) = thresholds
            && thresholds.off >= thresholds.on
        {
            let message = format!("off ({}) is not below on ({})", thresholds.off, thresholds.on);
            let help = "0 <= off < on: the distance between them is what keeps messages few";
            self.out.push(Diagnostic::error("SC032", format!("{at}/thresholds"), message).help(help));
        }
        let refresh_at = format!("{at}/refresh");
        if self.value(&refresh_at, refresh) == Some(Period::Time(0)) {
            let message = "a refresh period of 0 is not possible";
            let help = "use \"off\" or a positive time";
            self.out.push(Diagnostic::error("SC008", refresh_at, message).help(help));
        }
    }

    /// What a neighbour said before its link was initialised anew is void: it has to be obeyed by then.
    fn obey_latency(&mut self, at: &str, latency: Option<&Quantity<Picoseconds>>) {
        let at = format!("{at}/obey_latency");
        if let Some(time) = self.value(&at, latency)
            && time > OBEY_MOST
        {
            let message = format!("a message that is obeyed after {} is too old", units::time_text(time));
            self.out.push(Diagnostic::error("SC008", at, message).help("allowed: up to \"1 us\""));
        }
    }

    fn flow(&mut self, at: &str, flow: &FlowSpec) {
        self.value(&format!("{at}/start"), flow.start.as_ref());
        self.value(&format!("{at}/stop"), flow.stop.as_ref());
        for kind in crate::flow::KINDS {
            kind.read(self, at, flow);
        }
        let at = format!("{at}/arrivals");
        let Some(arrivals) = &flow.arrivals else { return };
        match arrivals {
            ArrivalSpec::Bernoulli(spec) => {
                let at = format!("{at}/bernoulli/slot");
                if self.value(&at, spec.slot.as_ref()) == Some(0) {
                    self.out.push(Diagnostic::error("SC008", at, "a slot of no length is not possible"));
                }
            }
            ArrivalSpec::Constant(spec) => {
                let interval = format!("{at}/constant/interval");
                if self.value(&interval, spec.interval.as_ref()) == Some(0) {
                    self.out.push(Diagnostic::error("SC008", interval, "an interval of 0 is not possible"));
                }
                self.value(&format!("{at}/constant/phase"), spec.phase.as_ref());
            }
            ArrivalSpec::OnOff(spec) => {
                self.value(&format!("{at}/on_off/on"), Some(&spec.on));
                self.value(&format!("{at}/on_off/off"), Some(&spec.off));
            }
            ArrivalSpec::Poisson(_) | ArrivalSpec::Saturated(_) | ArrivalSpec::Trace(_) => {}
        }
    }
}

/// Octets of an operation with an STU of 1 024.
const WHOLE_OPERATION: u32 = 1_064;

/// The lowest priority of packets in VC0 that somebody sends or is sent; `None`: there are none.
type Lowest = Option<u8>;

/// Adds packets of a priority. What stands in its place for other virtual channels is none.
fn lower(lowest: &mut Lowest, priority: u8) {
    if vc_of(priority) == 0 {
        *lowest = Some(lowest.map_or(priority, |old| old.min(priority)));
    }
}

/// The lowest priority at which a protocol asks; it answers at higher ones.
fn of_protocol(part: &PartConfig) -> u8 {
    match &part.protocol {
        ProtocolConfig::Workload { .. } | ProtocolConfig::Rpc { .. } => {
            part.source.iter().flat_map(priorities).min().unwrap_or(0)
        }
        ProtocolConfig::Linx(own) => {
            let all = own.data_priorities.iter().copied();
            all.chain([own.connection_priority, own.heartbeat_priority]).min().unwrap_or(0)
        }
        ProtocolConfig::Session(own) => own.priority,
        ProtocolConfig::Transfer(own) => own.priority.min(own.control_priority),
        ProtocolConfig::Translator(own) => own.priority.min(own.control_priority),
        ProtocolConfig::Enumerate { priority, .. } => *priority,
        ProtocolConfig::Plugged(_) => 0,
    }
}

/// The lowest priority of what goes to devices: to those that run a protocol, of any protocol.
fn receivers(config: &FabricConfig) -> Vec<Lowest> {
    let mut hears = vec![None; config.devices.len()];
    let asked = config.agents.iter().flat_map(|agent| &agent.parts).map(of_protocol).min().unwrap_or(0);
    config.agents.iter().for_each(|agent| lower(&mut hears[agent.device as usize], asked));
    // lists are shared by many sources
    let mut known: BTreeSet<(*const Vec<u32>, u8)> = BTreeSet::new();
    for source in config.all_sources() {
        let lists: Vec<&Arc<Vec<u32>>> = match &source.destinations {
            Destinations::Fixed(id) => {
                hear(config, &mut hears, *id, source.priority);
                Vec::new()
            }
            Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => vec![ids],
            Destinations::Hotspot { hot, cold, .. } => vec![hot, cold],
            Destinations::Replay => {
                if let Arrivals::Replay(packets) = &source.arrivals {
                    packets.iter().for_each(|own| hear(config, &mut hears, own.destination, own.priority));
                }
                Vec::new()
            }
        };
        for ids in lists {
            if known.insert((Arc::as_ptr(ids), source.priority)) {
                ids.iter().for_each(|id| hear(config, &mut hears, *id, source.priority));
            }
        }
    }
    hears
}

/// The owner of an id hears; of a group it is not known who does, so all do.
fn hear(config: &FabricConfig, hears: &mut [Lowest], id: u32, priority: u8) {
    match config.owners.get(id as usize) {
        Some(&owner) if owner != NO_OWNER => lower(&mut hears[owner as usize], priority),
        _ => hears.iter_mut().for_each(|lowest| lower(lowest, priority)),
    }
}

/// Where the thresholds of a detector are given.
fn thresholds_place(c: &Compiler<'_>, found: &fabric::Headroom) -> String {
    let port = c.graph.port_name((found.device as usize, found.port));
    let written = found.since.and_then(|at| c.thresholds_written(at, &port, found.detector));
    match written {
        Some(write) => format!("{write}/thresholds"),
        None => c.rules(found.device as usize)[usize::from(found.port)].1.clone(),
    }
}

/// Warns of detectors of congestion that never go on, and of the one that lacks most places for what still
/// comes when it has gone on.
fn detectors(c: &mut Compiler<'_>, detectors: &[fabric::Headroom]) {
    for found in detectors.iter().filter(|found| !found.is_reachable()) {
        let message = format!(
            "at most {} for \"{}\" can count at a time, so {} never do",
            crate::diagnostic::count(found.most as usize, "packet"),
            c.graph.port_name((found.device as usize, found.port)),
            found.detector.x_on
        );
        let help = "lower thresholds.on, or give it more buffers";
        let place = thresholds_place(c, found);
        c.once(Diagnostic::warning("SC072", place, message).help(help));
    }
    let short = detectors.iter().filter(|found| found.is_short());
    let Some(worst) = short.min_by_key(|found| (found.there as i128 - found.needed as i128, found.port))
    else {
        return;
    };
    let message = format!(
        "\"{}\" has {} above thresholds.on ({}), but {} are needed: {} packets of each of {} may \
         still come",
        c.graph.port_name((worst.device as usize, worst.port)),
        crate::diagnostic::count(worst.there as usize, "place"),
        worst.detector.x_on,
        worst.needed,
        worst.each,
        crate::diagnostic::count(worst.neighbours, "neighbour")
    );
    let help =
        "more buffers, a lower threshold, or a shorter loop; otherwise late packets block others (late_hol)";
    let place = thresholds_place(c, worst);
    c.once(Diagnostic::warning("SC081", place, message).help(help));
}

/// An end of a link that has fewer buffers than its round trip takes.
struct Tight {
    end: (u32, u8),
    /// Of the packets that come there, the lowest; `None`: frames of another medium have none.
    priority: Option<u8>,
    usable: u64,
    needed: u64,
}

/// A link that is longer than its ackIDs last.
struct Stretched {
    link: u32,
    ids: u64,
    needed: u64,
}

/// How many ends of links SC071 judges, and how many it does not, by the reason.
#[derive(Default)]
pub(crate) struct Judged {
    /// What comes there is held against the buffers.
    pub ends: usize,
    /// Nobody sends there, or nobody is sent to behind it.
    pub idle: usize,
    /// Receivers control the flow: no credits run out.
    pub blind: usize,
    /// Frames of a medium that loses what finds no room.
    pub lossy: usize,
}

/// Counts them.
pub(crate) fn judged(config: &FabricConfig) -> Judged {
    tight(&fabric::Loops::of(config), config).2
}

/// The end of a link that has the fewest of the buffers that its round trip takes, and the link that lacks
/// most ackIDs.
fn tight(loops: &fabric::Loops<'_>, config: &FabricConfig) -> (Option<Tight>, Option<Stretched>, Judged) {
    let (mut tight, mut stretched): (Option<Tight>, Option<Stretched>) = (None, None);
    let mut judged = Judged::default();
    let mut talks: Vec<Lowest> = vec![None; config.devices.len()];
    for source in &config.sources {
        priorities(source).into_iter().for_each(|own| lower(&mut talks[source.endpoint as usize], own));
    }
    for agent in &config.agents {
        agent.parts.iter().for_each(|part| lower(&mut talks[agent.device as usize], of_protocol(part)));
    }
    let hears = receivers(config);
    // Between switches the packets of anybody may go. Nothing to speak of comes from an endpoint that neither
    // has traffic nor runs a protocol, or goes to one that nobody sends to.
    let anybody = talks.iter().flatten().min().copied();
    let at = |device: u32, lowest: &[Lowest]| match config.devices[device as usize].model {
        DeviceModel::Switch(_) => anybody,
        DeviceModel::Endpoint(_) => lowest[device as usize],
    };
    // Receivers that control the flow themselves have no credits to run out of.
    let blind = config.symbolic.iter().filter(|symbolic| symbolic.flow == FlowControl::Receiver);
    let blind: BTreeSet<u32> = blind.map(|symbolic| symbolic.link).collect();
    let media: BTreeMap<u32, Medium> = config.media.iter().map(|media| (media.link, media.medium)).collect();
    for (number, link) in (0..).zip(&config.links) {
        let medium = media.get(&number).copied();
        if medium.is_some_and(|medium| !medium.is_lossless()) {
            judged.lossy += 2;
            continue;
        }
        // What goes over the link is both sent from here and sent to there.
        let ways = [(link.a, link.b), (link.b, link.a)];
        let ways = ways.map(|(end, from)| (end, at(from.0, &talks).zip(at(end.0, &hears))));
        for (end, _) in ways.iter().filter(|way| medium.is_none() && way.1.is_some()) {
            let (ids, needed) = (link.ack_window.into(), loops.unacknowledged(link, end.0));
            if ids < needed && stretched.as_ref().is_none_or(|old| needed - ids > old.needed - old.ids) {
                stretched = Some(Stretched { link: number, ids, needed });
            }
        }
        if blind.contains(&number) {
            judged.blind += 2;
            continue;
        }
        for (end, lowest) in ways {
            let Some((sent, taken)) = lowest else {
                judged.idle += 1;
                continue;
            };
            judged.ends += 1;
            let priority = sent.max(taken);
            let device = &config.devices[end.0 as usize];
            let needed = match medium {
                None => loops.packets(link, end.0),
                Some(medium) => loops.frames(link, end.0, medium.operation_octets(WHOLE_OPERATION)),
            };
            let port = &device.ports[usize::from(end.1)];
            // Packets may use what is above the watermark of their priority, and that one; 3 has none.
            let watermark = port.watermarks.get(usize::from(priority)).filter(|_| medium.is_none());
            let usable = u64::from(port.buffers + 1).saturating_sub(watermark.map_or(1, |own| (*own).into()));
            if usable > 0 && usable < needed && tight.as_ref().is_none_or(|old| usable < old.usable) {
                let priority = medium.is_none().then_some(priority);
                tight = Some(Tight { end, priority, usable, needed });
            }
        }
    }
    (tight, stretched, judged)
}

/// Warnings about what is possible but probably not meant. Gives the detectors that it looked at.
pub(crate) fn physics(c: &mut Compiler<'_>, config: &FabricConfig) -> Vec<fabric::Headroom> {
    let loops = fabric::Loops::of(config);
    let lengths = loops.lengths;
    let other: BTreeSet<u32> = config.media.iter().map(|media| media.link).collect();
    // Flows over other media have no loads.
    let own = (0..).zip(&config.links).filter(|(number, _)| !other.contains(number));
    let rates: BTreeSet<(u64, u64)> = own.map(|(_, link)| link.char_ps).collect();
    let (tight, stretched, _) = tight(&loops, config);
    if let Some(Stretched { link, ids, needed }) = stretched {
        let message = format!(
            "the link has {ids} ackIDs, but as many as {needed} packets of {lengths} are on their way before \
             one is acknowledged, if it is full"
        );
        let help = "a shorter link, longer packets, or IDLE3";
        let pointer = &c.wires[link as usize].pointer;
        c.once(Diagnostic::warning("SC071", pointer.clone(), message).help(help));
    }
    if let Some(Tight { end, priority, usable, needed }) = tight {
        let port = c.graph.port_name((end.0 as usize, end.1));
        let whose = priority.map_or("frames".into(), |own| format!("packets of priority {own}"));
        let what = priority.map_or(String::new(), |_| format!(" with packets of {lengths} both ways"));
        let message = format!(
            "\"{port}\" gives {whose} {usable} buffers, but its link needs {needed} for full rate{what}, \
             even if each goes on at once"
        );
        let help = match priority {
            Some(0..=2) => "more input_buffers, lower watermarks, or a shorter link",
            _ => "more input_buffers, or a shorter link",
        };
        c.once(Diagnostic::warning("SC071", "/links", message).help(help));
    }
    for symbolic in &config.symbolic {
        let Some(channels) = &symbolic.channels else { continue };
        let link = &config.links[symbolic.link as usize];
        let needed = loops.of_link(link);
        let buffers = channels.vcs[0].buffers;
        if u64::from(buffers) < needed {
            let port = c.graph.port_name((link.a.0 as usize, link.a.1));
            let message = format!(
                "a virtual channel at \"{port}\" has {buffers} buffers, but its link needs {needed} for \
                 full rate, even if each packet goes on at once"
            );
            let pointer = format!("{}/vcs", c.wires[symbolic.link as usize].pointer);
            let help = "more buffers, or a shorter link";
            c.once(Diagnostic::warning("SC071", pointer, message).help(help));
        }
    }
    let found = fabric::detectors(config);
    detectors(c, &found);
    if rates.len() > 1 {
        let list: Vec<String> = rates
            .iter()
            .map(|&(num, den)| format!("{:.2} Gb/s", 8_000.0 * den as f64 / num as f64))
            .collect();
        let message = format!("links of different speed: {}", list.join(", "));
        let help = "nothing to do if that is meant; a load is a share of the link of its own source, and \
                    a switch that cuts through to a faster link waits until the packet cannot run dry";
        c.once(Diagnostic::warning("SC074", "/links", message).help(help));
    }
    found
}
