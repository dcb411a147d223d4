//! From an expanded scenario to the dense configuration that the models run.

use crate::configure::{self, Enumeration};
use crate::diagnostic::Diagnostic;
use crate::expand::Layer;
use crate::medium;
use crate::names;
use crate::plan::{Labels, Variant, Warmup};
use crate::presets::{self, Preset};
use crate::routing;
use crate::spec::*;
use crate::tables;
use crate::topology::{self, Graph, shortened};
use crate::traffic;
use crate::units;
use models::config::*;
use models::lp_serial::cost::{LaneRate, SymbolSize, Width};
use models::sim_core::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Settings of one device.
pub(crate) enum Settings {
    Switch(SwitchSpec),
    Endpoint(Box<EndpointSpec>),
}

impl Settings {
    pub(crate) fn input_buffers(&self) -> u8 {
        match self {
            Self::Switch(s) => s.input_buffers,
            Self::Endpoint(e) => e.input_buffers,
        }
        .unwrap_or(16)
    }

    pub(crate) fn watermarks(&self) -> [u8; 3] {
        match self {
            Self::Switch(s) => s.watermarks,
            Self::Endpoint(e) => e.watermarks,
        }
        .unwrap_or([4, 3, 2])
    }

    pub(crate) fn voq(&self) -> PortVoqSpec {
        match self {
            Self::Switch(s) => s.voq.clone(),
            Self::Endpoint(e) => e.voq.clone(),
        }
        .unwrap_or_default()
    }

    pub(crate) fn staging<'a>(&'a self, common: &'a Staging) -> &'a Staging {
        match self {
            Self::Switch(s) => s.staging.as_ref(),
            Self::Endpoint(e) => e.staging.as_ref(),
        }
        .unwrap_or(common)
    }

    pub(crate) fn preset(&self) -> &'static Preset {
        match self {
            Self::Switch(s) => s.device.as_deref().and_then(presets::switch).unwrap_or(&presets::SWITCHES[0]),
            Self::Endpoint(e) => {
                e.device.as_deref().and_then(presets::endpoint).unwrap_or(&presets::ENDPOINTS[0])
            }
        }
    }
}

/// Timing of one link.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Another medium than RapidIO, and its rate.
    pub(crate) medium: Option<(Medium, u64)>,
    pub(crate) rate: LaneRate,
    pub(crate) width: Width,
    pub(crate) symbol: SymbolSize,
    pub(crate) propagation: u64,
    pub(crate) receiver: bool,
    pub(crate) symbolic: bool,
    pub(crate) timeout: Option<u64>,
    pub(crate) channels: Option<ChannelsConfig>,
    /// Where the settings of the link stand.
    pub(crate) pointer: String,
}

/// What all stages of the compilation of one variant share.
pub(crate) struct Compiler<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) out: &'a mut Vec<Diagnostic>,
    pub(crate) graph: Graph,
    pub(crate) neighbours: Vec<Vec<Option<(usize, usize, u8)>>>,
    pub(crate) settings: Vec<Settings>,
    pub(crate) origins: Vec<String>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) ids: Vec<u32>,
    pub(crate) groups: BTreeMap<String, u32>,
    pub(crate) id_bits: u8,
    /// A host sets the fabric up.
    pub(crate) host: Option<Enumeration>,
    seen: BTreeSet<(&'static str, String)>,
}

/// Compiles one expanded scenario. `None` if anything found is an error.
pub(crate) fn compile(name: &str, spec: &Spec, out: &mut Vec<Diagnostic>) -> Option<Variant> {
    let mut found = Vec::new();
    let variant = compile_into(name, spec, &mut found);
    let broken = found.iter().any(|d| d.severity == crate::diagnostic::Severity::Error);
    out.append(&mut found);
    if broken { None } else { variant }
}

fn compile_into(name: &str, spec: &Spec, out: &mut Vec<Diagnostic>) -> Option<Variant> {
    crate::check::quantities(spec, out);
    let graph = topology::build(&spec.topology, out)?;
    if out.iter().any(|d| d.severity == crate::diagnostic::Severity::Error) {
        // Later stages read the same quantities; their errors would only repeat these.
        return None;
    }
    let neighbours = graph.neighbours();
    let mut c = Compiler {
        spec,
        out,
        graph,
        neighbours,
        settings: Vec::new(),
        origins: Vec::new(),
        wires: Vec::new(),
        ids: Vec::new(),
        groups: BTreeMap::new(),
        id_bits: 8,
        host: None,
        seen: BTreeSet::new(),
    };
    c.settings();
    c.links();
    medium::check(&mut c);
    c.identifiers();
    let staging = c.staging();
    let ports = c.ports();
    c.host = c.enumeration(&ports);
    let tables = match &c.host {
        Some(host) => c.planned_routes(host),
        None if configure::setup(spec).is_some() => return None,
        None => c.routes()?,
    };
    let mut config = c.fabric(ports, &staging, &tables);
    medium::apply(&mut c, &mut config);
    c.multicast(&mut config);
    tables::next_hops(&mut config);
    let walk = c.follow(&config);
    let before = c.out.len();
    let demand = traffic::compile(&mut c, &mut config, &walk);
    if c.out.len() == before {
        c.lost(&config, &walk);
    }
    c.run(config, demand, name)
}

impl Compiler<'_> {
    /// Reports a finding once per code and place, however many devices share the place.
    pub(crate) fn once(&mut self, finding: Diagnostic) {
        if self.seen.insert((finding.code, finding.pointer.clone())) {
            self.out.push(finding);
        }
    }

    pub(crate) fn device_names(&self) -> Vec<&str> {
        self.graph.nodes.iter().map(|node| node.name.as_str()).collect()
    }

    fn settings(&mut self) {
        let base_switch = self.spec.switch.clone().unwrap_or_default();
        let base_endpoint = self.spec.endpoint.clone().unwrap_or_default();
        for device in 0..self.graph.nodes.len() {
            let (settings, origin) = match self.graph.is_switch(device) {
                true => (Settings::Switch(base_switch.clone()), "/switch"),
                false => (Settings::Endpoint(Box::new(base_endpoint.clone())), "/endpoint"),
            };
            self.settings.push(settings);
            self.origins.push(origin.into());
        }
        let spec = self.spec;
        for (i, change) in spec.overrides.iter().flatten().enumerate() {
            let Some(patterns) = &change.devices else { continue };
            let pointer = format!("/overrides/{i}");
            let names = self.device_names();
            let hits = match names::select(patterns.patterns(), &names) {
                Ok(hits) => hits,
                Err(pattern) => {
                    let finding = Diagnostic::error(
                        "SC011",
                        traffic::element(&format!("{pointer}/devices"), patterns, &pattern),
                        no_match("device", &pattern),
                    )
                    .help(format!("devices: {}", shortened(names.iter().copied())))
                    .did_you_mean_name(&pattern, names.iter().copied());
                    self.out.push(finding);
                    continue;
                }
            };
            let mut changed = false;
            for device in hits {
                match &mut self.settings[device] {
                    Settings::Switch(base) => {
                        let Some(user) = &change.switch else { continue };
                        *base = match user.device.as_deref().and_then(presets::switch) {
                            Some(preset) => user.over(&preset.switch_settings()).over(base),
                            None => user.over(base),
                        };
                        self.origins[device] = format!("{pointer}/switch");
                    }
                    Settings::Endpoint(base) => {
                        let Some(user) = &change.endpoint else { continue };
                        **base = match user.device.as_deref().and_then(presets::endpoint) {
                            Some(preset) => user.over(&preset.endpoint_settings()).over(base),
                            None => user.over(base),
                        };
                        self.origins[device] = format!("{pointer}/endpoint");
                    }
                }
                changed = true;
            }
            if !changed {
                let message =
                    "changes nothing: the pattern and the settings are not of the same kind of device";
                let help = "give \"switch\" for switches, \"endpoint\" for endpoints";
                self.out.push(Diagnostic::error("SC064", pointer, message).help(help));
            }
        }
        for device in 0..self.graph.nodes.len() {
            self.check_settings(device);
        }
    }

    fn check_settings(&mut self, device: usize) {
        let (name, origin) = (self.graph.nodes[device].name.clone(), self.origins[device].clone());
        let settings = &self.settings[device];
        let (buffers, marks, preset) = (settings.input_buffers(), settings.watermarks(), settings.preset());
        let ports = self.graph.ports(device);
        if let Settings::Switch(settings) = settings {
            let settings = settings.clone();
            crate::effect::switch(self, &origin, &settings);
        }
        if !(marks[0] > marks[1] && marks[1] > marks[2] && marks[2] > 0) {
            let message = format!("watermarks {marks:?} of \"{name}\" do not descend");
            let help = "WM0 > WM1 > WM2 > 0, for example [4, 3, 2]";
            self.once(Diagnostic::error("SC031", format!("{origin}/watermarks"), message).help(help));
        } else if buffers < marks[0] {
            let message = format!(
                "\"{name}\" has {buffers} receive buffers, fewer than its highest watermark {}",
                marks[0]
            );
            let help = format!("with fewer than {} no packet of priority 0 can ever be sent to it", marks[0]);
            self.once(Diagnostic::error("SC030", format!("{origin}/input_buffers"), message).help(help));
        }
        if ports > preset.ports_max {
            let message =
                format!("\"{name}\" has {ports} ports, but a {} has {}", preset.name, preset.ports_max);
            let help = "use fewer ports or another device";
            let pointer = self.graph.nodes[device].pointer.clone();
            self.once(Diagnostic::error("SC018", pointer, message).help(help));
        }
    }

    fn links(&mut self) {
        let spec = self.spec;
        let common = spec.links.clone().unwrap_or_default();
        let mut hit = vec![false; spec.overrides.iter().flatten().count()];
        for link in 0..self.graph.edges.len() {
            let edge = self.graph.edges[link].clone();
            let mut settings = common.clone();
            let mut pointer = "/links".to_owned();
            if let Some(own) = &edge.set {
                settings = medium::over(own, &settings);
                pointer = format!("{}/set", edge.pointer);
            }
            for (i, change) in spec.overrides.iter().flatten().enumerate() {
                let (Some(pattern), Some(own)) = (&change.link, &change.links) else { continue };
                let ends = [edge.a, edge.b].map(|(d, p)| {
                    let name = &self.graph.nodes[d].name;
                    names::matches(pattern, name) || names::matches(pattern, &format!("{name}:{p}"))
                });
                if ends[0] || ends[1] {
                    hit[i] = true;
                    settings = medium::over(own, &settings);
                    pointer = format!("/overrides/{i}/links");
                }
            }
            let wire = self.wire(&edge, &settings, &pointer);
            self.wires.push(wire);
        }
        for (i, change) in spec.overrides.iter().flatten().enumerate() {
            if let (Some(pattern), false) = (&change.link, hit[i]) {
                let names = self.device_names();
                let finding = Diagnostic::error(
                    "SC011",
                    format!("/overrides/{i}/link"),
                    no_match("end of a link", pattern),
                )
                .help("write \"device:port\", or a device for all its links")
                .did_you_mean_name(pattern, names);
                self.out.push(finding);
            }
        }
        self.lanes();
    }

    /// Whether every device has the lanes that its links take.
    fn lanes(&mut self) {
        let mut taken = vec![0u16; self.graph.nodes.len()];
        for (edge, wire) in self.graph.edges.iter().zip(&self.wires) {
            for (device, _) in [edge.a, edge.b] {
                let least = u16::from(self.settings[device].preset().lanes_least);
                taken[device] += (wire.width.lanes() as u16).max(least);
            }
        }
        for (device, taken) in taken.into_iter().enumerate() {
            let preset = self.settings[device].preset();
            if taken <= preset.lanes_all {
                continue;
            }
            let message = format!(
                "the links of \"{}\" take {taken} lanes, but a {} has {}",
                self.graph.nodes[device].name, preset.name, preset.lanes_all
            );
            let help = match preset.lanes_least {
                1 => "use narrower links, fewer of them, or another device".to_owned(),
                least => format!(
                    "two ports share four lanes, so even a link of one takes {least}; use narrower links, \
                     fewer of them, or another device"
                ),
            };
            self.once(Diagnostic::error("SC052", "/links/width", message).help(help));
        }
    }

    fn wire(&mut self, edge: &topology::Edge, settings: &LinkSpec, pointer: &str) -> Wire {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let propagation = units::length(&text(&settings.length)).unwrap_or(10_000)
            + units::time(&text(&settings.phy_latency)).unwrap_or(30_000);
        if propagation == 0 {
            let message = "length and phy_latency are both 0: a link must have a delay";
            self.once(Diagnostic::error("SC008", pointer.to_owned(), message).help("even 1 cm takes 50 ps"));
        }
        if let Some(medium) = medium::named(settings.medium) {
            let ends = [edge.a.0, edge.b.0];
            return medium::wire(self, ends, medium, settings, propagation.max(1), pointer);
        }
        let baud = units::rate(&text(&settings.rate)).unwrap_or(6_250_000_000);
        if let Some(text) = settings.rate.as_ref().filter(|text| units::rate(text).is_err()) {
            let message = format!("\"{text}\" is not a lane rate of RapidIO");
            let help = "give the rate in Gbaud, or the \"medium\"";
            self.once(Diagnostic::error("SC038", format!("{pointer}/rate"), message).help(help));
        }
        let rate =
            LaneRate::ALL.into_iter().find(|r| r.kbaud() * 1_000 == baud).unwrap_or(LaneRate::Gbaud6_25);
        let lanes = units::width(&text(&settings.width)).unwrap_or(4);
        let width = Width::ALL.into_iter().find(|w| w.lanes() == u32::from(lanes)).unwrap_or(Width::X4);
        let presets = [edge.a, edge.b].map(|(device, _)| (device, self.settings[device].preset()));
        for (device, preset) in presets {
            let name = self.graph.nodes[device].name.clone();
            if baud > preset.baud_max {
                let message = format!(
                    "the link to \"{name}\" runs at {}, but a {} reaches {} Gbaud",
                    text(&settings.rate),
                    preset.name,
                    preset.baud_max as f64 / 1e9
                );
                let help = "slow the link down with \"links\", or for this device alone with \"overrides\"";
                self.once(Diagnostic::error("SC038", format!("{pointer}/rate"), message).help(help));
            }
            if lanes > preset.lanes_max {
                let message = format!(
                    "the link to \"{name}\" has {lanes} lanes, but a {} has {}",
                    preset.name, preset.lanes_max
                );
                self.once(Diagnostic::error("SC038", format!("{pointer}/width"), message));
            }
        }
        let both_long = presets.iter().all(|(_, preset)| preset.long_symbols);
        let wanted = settings.symbol.unwrap_or(SymbolKind::Auto);
        let at = format!("{pointer}/symbol");
        let symbol = if rate.is_64b67b() {
            if wanted != SymbolKind::Auto {
                let message = "a 64b/67b link has neither short nor long control symbols, but those of IDLE3";
                self.once(Diagnostic::error("SC039", at, message).help("leave it out"));
            }
            SymbolSize::Idle3
        } else {
            match wanted {
                SymbolKind::Short if rate == LaneRate::Gbaud6_25 => {
                    let message = "a 6.25 Gbaud link has no short control symbols";
                    let help = "use \"long\" or \"auto\", or 5 Gbaud and below";
                    self.once(Diagnostic::error("SC039", at, message).help(help));
                    SymbolSize::Long
                }
                SymbolKind::Short => SymbolSize::Short,
                SymbolKind::Long if !both_long => {
                    let names = presets.map(|(device, _)| self.graph.nodes[device].name.clone());
                    let message =
                        format!("the link {} - {} cannot run long control symbols", names[0], names[1]);
                    self.once(
                        Diagnostic::error("SC039", at, message)
                            .help("one of the devices has short ones only"),
                    );
                    SymbolSize::Long
                }
                SymbolKind::Auto if !both_long => SymbolSize::Short,
                SymbolKind::Long | SymbolKind::Auto => SymbolSize::Long,
            }
        };
        let lane = rate.character_ps(Width::X1);
        let lane = (lane.numerator, lane.denominator);
        let channels = settings.vcs.as_ref();
        let channels = channels.and_then(|vcs| self.channels(vcs, &format!("{pointer}/vcs"), symbol, lane));
        Wire {
            medium: None,
            rate,
            width,
            symbol,
            propagation: propagation.max(1),
            receiver: settings.flow_control == Some(FlowControlKind::Receiver),
            symbolic: settings.granularity == Some(GranularityKind::Symbol),
            timeout: settings.timeout.as_deref().and_then(|t| units::time(t).ok()),
            channels,
            pointer: pointer.to_owned(),
        }
    }

    fn identifiers(&mut self) {
        let spec = self.spec;
        let endpoints = self.graph.endpoints.clone();
        let groups = spec.multicast.as_deref().unwrap_or_default();
        let given = |device: usize| self.graph.nodes[device].id;
        let largest =
            endpoints.iter().filter_map(|&d| given(d)).chain(groups.iter().filter_map(|g| g.id)).max();
        let needed =
            (endpoints.len() + groups.len()).max(largest.map_or(0, |id| (id as usize).saturating_add(1)));
        // A host needs one more, which nobody gets.
        let needed = needed + usize::from(configure::setup(spec).is_some());
        self.id_bits = spec.id_bits.unwrap_or(if needed > 256 { 16 } else { 8 });
        let limit = 1u32 << self.id_bits;
        let mut owner: BTreeMap<u32, String> = BTreeMap::new();
        let mut found = Vec::new();
        let claims = endpoints
            .iter()
            .filter_map(|&d| Some((given(d)?, format!("{}/id", self.graph.nodes[d].pointer))))
            .chain(
                groups.iter().enumerate().filter_map(|(i, g)| Some((g.id?, format!("/multicast/{i}/id")))),
            );
        for (id, pointer) in claims {
            if id >= limit {
                let message = format!("destination id {id} does not fit {} bits", self.id_bits);
                let help = format!("allowed: 0 to {}", limit - 1);
                let wider =
                    if self.id_bits == 8 { "or \"id_bits\": 16" } else { "wider ids are not modelled" };
                found.push(Diagnostic::error("SC017", pointer, message).help(help).help(wider));
            } else if let Some(first) = owner.get(&id) {
                let message = format!("destination id {id} is used twice");
                found.push(Diagnostic::error("SC016", pointer, message).also(first.clone(), "the first one"));
            } else {
                owner.insert(id, pointer);
            }
        }
        let mut free = (0..limit).filter(|id| !owner.contains_key(id));
        let mut short = false;
        let mut next = |given: Option<u32>, short: &mut bool| {
            given.unwrap_or_else(|| {
                free.next().unwrap_or_else(|| {
                    *short = true;
                    0
                })
            })
        };
        self.ids = vec![NO_OWNER; self.graph.nodes.len()];
        for &device in &endpoints {
            self.ids[device] = next(self.graph.nodes[device].id, &mut short);
        }
        let mut group_ids = BTreeMap::new();
        for (i, group) in groups.iter().enumerate() {
            let id = next(group.id, &mut short);
            let taken = self.graph.find(&group.name).is_some() || group_ids.contains_key(&group.name);
            if let Err(why) = topology::good_name(&group.name) {
                found.push(Diagnostic::error("SC009", format!("/multicast/{i}/name"), why));
            } else if taken {
                let message = format!("\"{}\" is already the name of a device or group", group.name);
                found.push(Diagnostic::error("SC023", format!("/multicast/{i}/name"), message));
            }
            group_ids.insert(group.name.clone(), id);
        }
        if short {
            let message = format!("{needed} destination ids do not fit {} bits", self.id_bits);
            let help =
                if self.id_bits == 8 { "use \"id_bits\": 16" } else { "at most 65536 ids are modelled" };
            found.push(Diagnostic::error("SC017", "/id_bits", message).help(help));
        }
        self.groups = group_ids;
        self.out.append(&mut found);
    }

    /// The configuration with unicast routes; multicast, next hops and traffic come later.
    fn fabric(
        &mut self,
        ports: Vec<Vec<PortConfig>>,
        staging: &[StagingConfig],
        tables: &routing::Tables,
    ) -> FabricConfig {
        let largest = self.ids.iter().filter(|id| **id != NO_OWNER).chain(self.groups.values()).max();
        let id_space = match &self.host {
            Some(_) => 1 << self.id_bits,
            None => largest.map_or(1, |id| id.saturating_add(1)).min(65_536),
        };
        let mut owners = vec![NO_OWNER; id_space as usize];
        for &endpoint in &self.graph.endpoints {
            if let Some(slot) = owners.get_mut(self.ids[endpoint] as usize) {
                *slot = endpoint as u32;
            }
        }
        let mut devices = Vec::with_capacity(self.graph.nodes.len());
        for (device, ports) in ports.into_iter().enumerate() {
            let model = match &self.settings[device] {
                Settings::Switch(_) => {
                    let mut entries =
                        vec![Route { egress: Egress::Drop, next_hop: NO_PORT }; id_space as usize];
                    for (position, &endpoint) in self.graph.endpoints.iter().enumerate() {
                        let port = tables[device][position];
                        if let (true, Some(entry)) =
                            (port != NO_PORT, entries.get_mut(self.ids[endpoint] as usize))
                        {
                            entry.egress = Egress::Port(port);
                        }
                    }
                    DeviceModel::Switch(self.switch(device, entries, &ports, staging[device].clone()))
                }
                Settings::Endpoint(_) => DeviceModel::Endpoint(EndpointConfig {
                    ids: vec![self.ids[device]],
                    staging: staging[device].clone(),
                    next_hop: Arc::new(Vec::new()),
                }),
            };
            devices.push(DeviceConfig { path: self.graph.nodes[device].name.clone(), ports, model });
        }
        self.explicit_tables(&mut devices, &owners);
        let links = self.graph.edges.iter().zip(&self.wires).map(|(edge, wire)| {
            let character = wire.rate.character_ps(wire.width);
            LinkConfig {
                a: (edge.a.0 as u32, edge.a.1),
                b: (edge.b.0 as u32, edge.b.1),
                char_ps: (character.numerator, character.denominator),
                lanes: wire.width.lanes() as u8,
                symbol_chars: wire.symbol.delimiter_chars() as u8,
                long_symbols: wire.symbol == SymbolSize::Long,
                ack_window: wire.symbol.ack_id_window(),
                propagation: Duration(wire.propagation),
            }
        });
        FabricConfig {
            seed: self.spec.seed.unwrap_or(1),
            shake: self.spec.shake.unwrap_or(0),
            devices,
            links: links.collect(),
            id_space,
            owners,
            flows: Vec::new(),
            sources: Vec::new(),
            agents: Vec::new(),
            enumeration: self.host.as_ref().map(|host| host.config),
            symbol_losses: Vec::new(),
            media: Vec::new(),
            symbolic: Vec::new(),
            faults: Vec::new(),
            sample_every: None,
            stall_after: None,
            stop_on_stall: false,
        }
    }

    fn switch(
        &mut self,
        device: usize,
        entries: Vec<Route>,
        ports: &[PortConfig],
        staging: StagingConfig,
    ) -> SwitchConfig {
        let Settings::Switch(s) = &self.settings[device] else { unreachable!("called for switches only") };
        let time = |text: &Option<String>| text.as_deref().and_then(|t| units::time(t).ok()).unwrap_or(0);
        let packets = s.buffer_packets.unwrap_or(16);
        let buffering = match s.buffering.unwrap_or(BufferingKind::Direct) {
            BufferingKind::Direct => Buffering::Direct,
            BufferingKind::Crosspoint => Buffering::Crosspoint { depth: packets },
            BufferingKind::Output => Buffering::Output { packets },
        };
        let voq = self.spec.voq.clone().unwrap_or_default();
        let generates = ports.iter().any(|port| port.voq.gen_en);
        let thresholds = voq.thresholds.unwrap_or(Thresholds { on: 8, off: 4 });
        let verdict = match (voq.verdict, buffering) {
            (Some(VerdictKind::Shared), _) | (None, Buffering::Output { .. }) => Verdict::Shared,
            (Some(VerdictKind::PerIngress) | None, _) => Verdict::PerIngress,
        };
        let config = SwitchConfig {
            input: match s.input.unwrap_or(InputKind::Voq) {
                InputKind::Fifo => InputQueueing::Fifo,
                InputKind::Voq => InputQueueing::Voq,
            },
            buffering,
            arbitration: match s.arbitration.unwrap_or(ArbitrationKind::RoundRobin) {
                ArbitrationKind::RoundRobin => Arbitration::RoundRobin,
                ArbitrationKind::OldestFirst => Arbitration::OldestFirst,
                ArbitrationKind::Random => Arbitration::Random,
                ArbitrationKind::Islip => Arbitration::Islip { iterations: s.iterations.unwrap_or(2) },
            },
            slot: match s.slot.as_deref() {
                None | Some("off") => None,
                slot => Some(Duration(time(&slot.map(str::to_owned)))),
            },
            reads_per_input: s.reads_per_input.unwrap_or(1),
            forwarding: match s.forwarding.unwrap_or(ForwardingKind::StoreAndForward) {
                ForwardingKind::StoreAndForward => Forwarding::StoreAndForward,
                // The destination id is complete after 3 octets with 8-bit ids, 4 with 16-bit ids.
                ForwardingKind::CutThrough => Forwarding::CutThrough { header: 2 + self.id_bits / 8 },
            },
            pipeline: Duration(time(&s.pipeline)),
            routes: RouteTable { entries, masks: Vec::new(), mask_next_hops: Vec::new() },
            detector: generates.then_some(Detector { x_on: thresholds.on, x_off: thresholds.off, verdict }),
            refresh: if generates { self.refresh(device, voq.refresh.as_deref()) } else { None },
            generation_delay: Duration(time(&voq.generation_delay)),
            staging,
        };
        if let Some(detector) = config.detector {
            self.check_threshold(device, &config, detector);
        }
        config
    }

    /// Times of the run, labels, what to measure.
    fn run(&mut self, mut config: FabricConfig, demand: traffic::Demand, name: &str) -> Option<Variant> {
        let run = self.spec.run.clone().unwrap_or_default();
        let until = run.until.as_deref().and_then(|t| units::time(t).ok())?;
        let special = |text: &Option<String>, word: &str| text.as_deref() == Some(word);
        let time = |text: &Option<String>| text.as_deref().and_then(|t| units::time(t).ok()).map(Duration);
        config.sample_every = match &run.sample_every {
            text if special(text, "off") => None,
            text => Some(time(text).unwrap_or(Duration((until / 1_000).max(1)))),
        };
        config.stall_after = match &run.stall_after {
            text if special(text, "off") => None,
            text => Some(time(text).unwrap_or_else(|| self.stall_after(&config))),
        };
        config.stop_on_stall = run.on_stall == Some(OnStall::Stop);
        self.losses(&mut config);
        self.check_channels(&config);
        self.faults(&mut config);
        crate::check::physics(self, &config);
        let warmup = match &run.warmup {
            text if special(text, "auto") => Warmup::Auto,
            text => time(text).map_or(Warmup::Auto, |t| Warmup::Until(Time(t.0))),
        };
        let port = |end: (u32, u8)| self.graph.port_name((end.0 as usize, end.1));
        let labels = Labels {
            devices: config.devices.iter().map(|d| d.path.clone()).collect(),
            links: config.links.iter().map(|l| format!("{}-{}", port(l.a), port(l.b))).collect(),
            flows: config.flows.iter().map(|f| f.name.clone()).collect(),
        };
        let declare = self.spec.declare.clone().unwrap_or_default();
        let mut declared = |names: Option<Vec<String>>, key: &str| -> Vec<u16> {
            let mut list = Vec::new();
            for (i, name) in names.into_iter().flatten().enumerate() {
                match labels.flows.iter().position(|flow| *flow == name) {
                    Some(index) => list.push(index as u16),
                    None => {
                        let flows = labels.flows.iter().map(String::as_str);
                        let finding = Diagnostic::error(
                            "SC062",
                            format!("/declare/{key}/{i}"),
                            format!("there is no flow \"{name}\""),
                        )
                        .help(format!("flows: {}", shortened(flows.clone())))
                        .did_you_mean(&name, flows);
                        self.out.push(finding);
                    }
                }
            }
            list
        };
        let victims = declared(declare.victims, "victims");
        let hot = match declare.hot {
            Some(names) => declared(Some(names), "hot"),
            None => demand.hot.clone(),
        };
        Some(Variant {
            name: name.to_owned(),
            config: Arc::new(config),
            until: Time(until),
            warmup,
            labels,
            victims,
            hot,
            offered: demand.offered,
        })
    }

    /// A packet that stands still longer than this is stuck: 1 000 packet times and 4 round trips, and at
    /// least 2 refresh periods, because a refresh may set it free.
    fn stall_after(&self, config: &FabricConfig) -> Duration {
        const PACKETS: u128 = 1_000;
        const PACKET_CHARS: u128 = 276 + 8;
        let link = |l: &LinkConfig| {
            let packet = PACKET_CHARS * u128::from(l.char_ps.0) / u128::from(l.char_ps.1);
            PACKETS * packet + 8 * u128::from(l.propagation.0)
        };
        let slowest = config.links.iter().map(link).max().unwrap_or(1_000_000);
        let refresh = config.devices.iter().filter_map(|d| match &d.model {
            DeviceModel::Switch(s) => s.refresh.map(|r| 2 * u128::from(r.0)),
            DeviceModel::Endpoint(_) => None,
        });
        Duration(refresh.max().unwrap_or(0).max(slowest) as u64)
    }

    fn losses(&mut self, config: &mut FabricConfig) {
        let spec = self.spec;
        let losses = spec.faults.as_ref().and_then(|f| f.lose_voq_symbols.as_deref()).unwrap_or_default();
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
            if !port.voq.gen_en && self.voq_enabled() {
                let message = format!("\"{}\" sends no messages through port {}", loss.device, loss.port);
                let help = "choose a port whose neighbour honours messages";
                self.out.push(Diagnostic::error("SC063", pointer, message).help(help));
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
}

/// Message for a pattern without a match.
pub(crate) fn no_match(what: &str, pattern: &str) -> String {
    format!("\"{pattern}\" matches no {what}")
}
