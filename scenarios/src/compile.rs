//! From an expanded scenario to the dense configuration that the models run.

use crate::diagnostic::Diagnostic;
use crate::expand::Layer;
use crate::fabric::{self, Fate};
use crate::names;
use crate::plan::{Labels, Variant, Warmup};
use crate::presets::{self, Preset};
use crate::routing;
use crate::spec::*;
use crate::topology::{self, Graph, Shape, shortened};
use crate::traffic;
use crate::units;
use lp_serial::cost::{LaneRate, SymbolSize, Width};
use models::config::*;
use sim_core::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Settings of one device.
pub(crate) enum Settings {
    Switch(SwitchSpec),
    Endpoint(EndpointSpec),
}

impl Settings {
    fn input_buffers(&self) -> u8 {
        match self {
            Self::Switch(s) => s.input_buffers,
            Self::Endpoint(e) => e.input_buffers,
        }
        .unwrap_or(16)
    }

    fn watermarks(&self) -> [u8; 3] {
        match self {
            Self::Switch(s) => s.watermarks,
            Self::Endpoint(e) => e.watermarks,
        }
        .unwrap_or([4, 3, 2])
    }

    fn voq(&self) -> PortVoqSpec {
        match self {
            Self::Switch(s) => s.voq.clone(),
            Self::Endpoint(e) => e.voq.clone(),
        }
        .unwrap_or_default()
    }

    fn staging<'a>(&'a self, common: &'a Staging) -> &'a Staging {
        match self {
            Self::Switch(s) => s.staging.as_ref(),
            Self::Endpoint(e) => e.staging.as_ref(),
        }
        .unwrap_or(common)
    }

    fn preset(&self) -> &'static Preset {
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
    pub(crate) rate: LaneRate,
    pub(crate) width: Width,
    pub(crate) symbol: SymbolSize,
    pub(crate) propagation: u64,
}

/// What all stages of the compilation of one variant share.
pub(crate) struct Compiler<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) out: &'a mut Vec<Diagnostic>,
    pub(crate) graph: Graph,
    pub(crate) neighbours: Vec<Vec<Option<(usize, usize, u8)>>>,
    pub(crate) settings: Vec<Settings>,
    origins: Vec<String>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) ids: Vec<u32>,
    pub(crate) groups: BTreeMap<String, u32>,
    pub(crate) id_bits: u8,
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
        seen: BTreeSet::new(),
    };
    c.settings();
    c.links();
    c.identifiers();
    let staging = c.staging();
    let ports = c.ports();
    let tables = c.routes()?;
    let mut config = c.fabric(ports, &staging, &tables);
    c.multicast(&mut config);
    next_hops(&mut config);
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
                false => (Settings::Endpoint(base_endpoint.clone()), "/endpoint"),
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
                        *base = match &user.device {
                            Some(name) => user.over(&presets::switch_settings(name)).over(base),
                            None => user.over(base),
                        };
                        self.origins[device] = format!("{pointer}/switch");
                    }
                    Settings::Endpoint(base) => {
                        let Some(user) = &change.endpoint else { continue };
                        *base = match &user.device {
                            Some(name) => user.over(&presets::endpoint_settings(name)).over(base),
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
                settings = own.over(&settings);
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
                    settings = own.over(&settings);
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
    }

    fn wire(&mut self, edge: &topology::Edge, settings: &LinkSpec, pointer: &str) -> Wire {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let baud = units::rate(&text(&settings.rate)).unwrap_or(6_250_000_000);
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
        let propagation = units::length(&text(&settings.length)).unwrap_or(10_000)
            + units::time(&text(&settings.phy_latency)).unwrap_or(30_000);
        if propagation == 0 {
            let message = "length and phy_latency are both 0: a link must have a delay";
            self.once(Diagnostic::error("SC008", pointer.to_owned(), message).help("even 1 cm takes 50 ps"));
        }
        Wire { rate, width, symbol, propagation: propagation.max(1) }
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

    fn voq_spec(&self) -> VoqSpec {
        self.spec.voq.clone().unwrap_or_default()
    }

    fn voq_enabled(&self) -> bool {
        self.voq_spec().enabled == Some(true)
    }

    /// Staging of every device.
    fn staging(&mut self) -> Vec<StagingConfig> {
        let voq = self.voq_spec();
        let common = voq.staging.clone().unwrap_or(Staging::PerPort);
        let mut all = Vec::new();
        for device in 0..self.graph.nodes.len() {
            if !self.voq_enabled() {
                // Off means off: the fabric behaves as if Part 12 did not exist (VOQ-1.1-4).
                all.push(StagingConfig::None);
                continue;
            }
            let staging = self.settings[device].staging(&common).clone();
            let own = match &self.settings[device] {
                Settings::Switch(s) => s.staging.is_some(),
                Settings::Endpoint(e) => e.staging.is_some(),
            };
            let pointer =
                if own { format!("{}/staging", self.origins[device]) } else { "/voq/staging".to_owned() };
            let name = self.graph.nodes[device].name.clone();
            if let (Settings::Switch(s), true) = (&self.settings[device], staging != Staging::None)
                && s.input == Some(InputKind::Fifo)
                && s.buffering == Some(BufferingKind::Direct)
            {
                let message = format!(
                    "switch \"{name}\" cannot stage: its inputs are FIFOs without buffers behind them"
                );
                let help = "give it \"input\": \"voq\", buffers (\"crosspoint\" or \"output\"), or \"staging\": \"none\"";
                self.once(Diagnostic::error("SC033", pointer.clone(), message).help(help));
            }
            if let Staging::Table(table) = &staging {
                let neighbours = self.neighbours[device].iter().flatten();
                let needed =
                    neighbours.map(|&(_, other, _)| usize::from(self.graph.ports(other))).max().unwrap_or(0);
                if table.len() < needed {
                    let message = format!(
                        "the table names the queues of {} ports, but a neighbour of \"{name}\" has {needed}",
                        table.len()
                    );
                    self.once(
                        Diagnostic::error("SC033", pointer.clone(), message).help("one entry for each port"),
                    );
                }
                if let Some(queue) = table.iter().find(|queue| **queue >= 192) {
                    let message = format!("queue {queue} does not exist");
                    self.once(Diagnostic::error("SC033", pointer, message).help("allowed: queues 0 to 191"));
                }
            }
            all.push(match staging {
                Staging::None => StagingConfig::None,
                Staging::PerPort => StagingConfig::PerPort,
                Staging::Modulo(n) => StagingConfig::Modulo(n),
                Staging::Table(table) => StagingConfig::Table(table),
            });
        }
        all
    }

    /// Registers of every port, with where each setting comes from.
    fn registers(&mut self) -> Vec<Vec<(PortVoqSpec, String)>> {
        let mut all: Vec<Vec<(PortVoqSpec, String)>> = (0..self.graph.nodes.len())
            .map(|device| {
                let one = (self.settings[device].voq(), format!("{}/voq", self.origins[device]));
                vec![one; usize::from(self.graph.ports(device))]
            })
            .collect();
        let spec = self.spec;
        for (i, change) in spec.overrides.iter().flatten().enumerate() {
            let (Some(port), Some(registers)) = (&change.port, &change.voq) else { continue };
            let mut hit = false;
            for (device, ports) in all.iter_mut().enumerate() {
                let name = &self.graph.nodes[device].name;
                let shown = self.graph.is_switch(device);
                for (number, slot) in ports.iter_mut().enumerate() {
                    if names::matches(port, &format!("{name}:{number}"))
                        || (!shown && names::matches(port, name))
                    {
                        *slot = (registers.over(&slot.0), format!("/overrides/{i}/voq"));
                        hit = true;
                    }
                }
            }
            if !hit {
                let names = self.device_names();
                let (name, _) = port.rsplit_once(':').unwrap_or((port, ""));
                let known = self.graph.find(name).map(|d| self.graph.ports(d));
                let finding = match known {
                    Some(n) => {
                        Diagnostic::error("SC012", format!("/overrides/{i}/port"), no_match("port", port))
                            .help(format!("\"{name}\" has ports 0 to {}", n - 1))
                    }
                    None => {
                        Diagnostic::error("SC011", format!("/overrides/{i}/port"), no_match("port", port))
                            .help("write \"device:port\"")
                            .did_you_mean_name(name, names)
                    }
                };
                self.out.push(finding);
            }
        }
        all
    }

    fn ports(&mut self) -> Vec<Vec<PortConfig>> {
        let registers = self.registers();
        let enabled = self.voq_enabled();
        let common = self.voq_spec().staging.unwrap_or(Staging::PerPort);
        let honours = |c: &Self, device: usize, port: u8| {
            registers[device][usize::from(port)].0.rx_sup == Some(true)
                // Who has no queues to stop cannot honour a message (VOQ-2.2-8).
                && (!enabled || *c.settings[device].staging(&common) != Staging::None)
        };
        let mut generating = false;
        let mut all = Vec::new();
        for device in 0..self.graph.nodes.len() {
            let mut ports = Vec::new();
            for port in 0..self.graph.ports(device) {
                let (own, pointer) = &registers[device][usize::from(port)];
                let gen_sup = own.gen_sup == Some(true);
                let neighbour = self.neighbours[device][usize::from(port)];
                let willing =
                    neighbour.is_some_and(|(_, other, other_port)| honours(self, other, other_port));
                let symbol = neighbour.map(|(link, _, _)| self.wires[link].symbol);
                let forced = own.gen_en == Some(true);
                let wants =
                    enabled && own.gen_en.unwrap_or(gen_sup && willing) && (neighbour.is_some() || forced);
                if wants {
                    self.check_generation(device, port, gen_sup, willing, symbol, pointer);
                }
                generating |= wants;
                ports.push(PortConfig {
                    buffers: self.settings[device].input_buffers(),
                    watermarks: self.settings[device].watermarks(),
                    voq: PortVoq {
                        gen_sup,
                        rx_sup: honours(self, device, port),
                        gen_en: wants,
                        part: enabled && own.part.unwrap_or(true) && self.graph.is_switch(device),
                        xoff: enabled && own.xoff.unwrap_or(false),
                    },
                });
            }
            all.push(ports);
        }
        if enabled && !generating {
            let message =
                "VoQ backpressure is enabled, but no port sends messages to a neighbour that honours them";
            let help = "give switches gen_sup and their neighbours rx_sup and staging, or disable it";
            self.once(Diagnostic::error("SC037", "/voq/enabled", message).help(help));
        }
        all
    }

    fn check_generation(
        &mut self,
        device: usize,
        port: u8,
        gen_sup: bool,
        willing: bool,
        symbol: Option<SymbolSize>,
        pointer: &str,
    ) {
        let name = self.graph.port_name((device, port));
        let off = format!("set \"gen_en\": false for port \"{name}\" in \"overrides\"");
        if !gen_sup {
            let message =
                format!("GEN_EN is set on \"{name}\", which cannot generate messages (GEN_SUP = 0)");
            let help = "remove gen_en, or give the device gen_sup";
            self.once(Diagnostic::error("SC036", format!("{pointer}/gen_en"), message).help(help));
        }
        if !willing {
            let message = format!(
                "GEN_EN is set on \"{name}\", but its neighbour does not honour messages (RX_SUP = 0)"
            );
            let help = "remove gen_en (it is then set only where the neighbour honours messages)";
            self.once(Diagnostic::error("SC036", format!("{pointer}/gen_en"), message).help(help));
        }
        match symbol {
            Some(SymbolSize::Short) => {
                let message = format!(
                    "the link of \"{name}\" runs short control symbols: a message has no place in them"
                );
                let help = format!("use \"symbol\": \"long\", or {off}");
                self.once(Diagnostic::error("SC034", "/voq/enabled", message).help(help));
            }
            Some(SymbolSize::Idle3) => {
                let message = format!(
                    "the link of \"{name}\" is 64b/67b: Part 12 of revision 2 lives in the 48-bit symbol of 8b/10b links"
                );
                let help = format!("use 6.25 Gbaud or less, or {off}");
                self.once(Diagnostic::error("SC035", "/voq/enabled", message).help(help));
            }
            Some(SymbolSize::Long) | None => {}
        }
    }

    fn routes(&mut self) -> Option<routing::Tables> {
        let spec = self.spec.routing.clone().unwrap_or_default();
        let method = match (spec.method.unwrap_or(RoutingMethod::Auto), &self.graph.shape) {
            (RoutingMethod::Auto, Shape::Plain) => RoutingMethod::Shortest,
            (RoutingMethod::Auto, Shape::Grid { torus: false, .. }) => RoutingMethod::DimensionOrder,
            (RoutingMethod::Auto, Shape::Grid { .. } | Shape::Dragonfly) => RoutingMethod::UpDown,
            (RoutingMethod::Auto, Shape::FatTree(_)) => RoutingMethod::FatTree,
            (method, _) => method,
        };
        let mut root = (0..self.graph.nodes.len()).find(|&d| self.graph.is_switch(d)).unwrap_or(0);
        if let Some(name) = &spec.root {
            match self.graph.find(name).filter(|&d| self.graph.is_switch(d)) {
                Some(device) => root = device,
                None => {
                    let message = format!("there is no switch \"{name}\"");
                    let names = self.device_names();
                    let finding =
                        Diagnostic::error("SC011", "/routing/root", message).did_you_mean_name(name, names);
                    self.out.push(finding);
                }
            }
        }
        let tables = match method {
            RoutingMethod::Shortest | RoutingMethod::Auto => {
                Some(routing::shortest(&self.graph, &self.neighbours))
            }
            RoutingMethod::UpDown => Some(routing::up_down(&self.graph, &self.neighbours, root)),
            RoutingMethod::DimensionOrder => routing::dimension_order(&self.graph, &self.neighbours),
            RoutingMethod::FatTree => routing::fat_tree(&self.graph, &self.neighbours),
            RoutingMethod::Tables => Some(routing::none(&self.graph)),
        };
        if tables.is_none() {
            let (word, shape) = match method {
                RoutingMethod::DimensionOrder => ("dimension_order", "a mesh"),
                _ => ("fat_tree", "a fat tree"),
            };
            let message = format!("\"{word}\" needs {shape}");
            let help = "use \"auto\", \"shortest\" or \"up_down\"";
            self.out.push(Diagnostic::error("SC026", "/routing/method", message).help(help));
        }
        tables
    }

    /// The configuration with unicast routes; multicast, next hops and traffic come later.
    fn fabric(
        &mut self,
        ports: Vec<Vec<PortConfig>>,
        staging: &[StagingConfig],
        tables: &routing::Tables,
    ) -> FabricConfig {
        let largest = self.ids.iter().filter(|id| **id != NO_OWNER).chain(self.groups.values()).max();
        let id_space = largest.map_or(1, |id| id.saturating_add(1)).min(65_536);
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
            symbol_losses: Vec::new(),
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

    /// Warns of a threshold that the switch cannot reach.
    fn check_threshold(&mut self, device: usize, config: &SwitchConfig, detector: Detector) {
        let inputs = u64::from(self.settings[device].input_buffers());
        let ports = u64::from(self.graph.ports(device));
        let sources = if detector.verdict == Verdict::Shared { ports } else { 1 };
        let behind = match config.buffering {
            Buffering::Direct => 0,
            Buffering::Crosspoint { depth } => u64::from(depth) * sources,
            Buffering::Output { packets } => u64::from(packets),
        };
        let most = inputs * sources + behind;
        if u64::from(detector.x_on) > most {
            let message = format!(
                "\"{}\" never holds {} packets for one port: at most {most}",
                self.graph.nodes[device].name, detector.x_on
            );
            let help = "lower thresholds.on, or give it more buffers";
            self.once(Diagnostic::warning("SC072", "/voq/thresholds", message).help(help));
        }
    }

    /// Refresh period of a switch: 16 x 1024 code-groups of its slowest link unless the file says otherwise.
    fn refresh(&self, device: usize, text: Option<&str>) -> Option<Duration> {
        match text {
            Some("off") => None,
            None | Some("default") => {
                let links = self.neighbours[device].iter().flatten();
                let slowest = links.map(|&(link, _, _)| self.wires[link].rate).min()?;
                let one = slowest.lane_character_ps();
                let groups = lp_serial::cost::VC_REFRESH_MANDATORY_UNITS
                    * lp_serial::cost::VC_REFRESH_UNIT_CODE_GROUPS;
                Some(Duration(u64::from(groups) * one.numerator / one.denominator))
            }
            Some(text) => units::time(text).ok().map(Duration),
        }
    }

    /// Routing entries that the file gives.
    fn explicit_tables(&mut self, devices: &mut [DeviceConfig], owners: &[u32]) {
        let spec = self.spec;
        let Some(tables) = spec.routing.as_ref().and_then(|r| r.tables.as_ref()) else { return };
        for (switch, rows) in tables {
            let at = format!("/routing/tables/{}", crate::source::escape(switch));
            let Some(device) = self.graph.find(switch).filter(|&d| self.graph.is_switch(d)) else {
                let message = format!("there is no switch \"{switch}\"");
                let names = self.device_names();
                let finding =
                    Diagnostic::error("SC011", at, message).did_you_mean_name(switch, names).at_key();
                self.out.push(finding);
                continue;
            };
            let DeviceModel::Switch(config) = &mut devices[device].model else { continue };
            // "default" fills what is left, so it comes last; patterns are applied from general to special by
            // the order of the file's keys, which a map does not keep: names without wild cards win.
            let mut keys: Vec<&String> = rows.keys().collect();
            keys.sort_by_key(|key| (*key == "default", !key.contains(['*', '?', '{']), *key));
            let mut set = vec![false; config.routes.entries.len()];
            for key in keys {
                let pointer = format!("{at}/{}", crate::source::escape(key));
                let egress = match route_target(&rows[key], self.graph.ports(device), switch) {
                    Ok(egress) => egress,
                    Err((message, help)) => {
                        self.out.push(Diagnostic::error("SC024", pointer, message).help(help));
                        continue;
                    }
                };
                let ids: Vec<u32> = if key == "default" {
                    let open = |id: &usize| !set[*id] && config.routes.entries[*id].egress == Egress::Drop;
                    (0..config.routes.entries.len()).filter(open).map(|id| id as u32).collect()
                } else if let Ok(id) = key.parse::<u32>() {
                    vec![id]
                } else {
                    let endpoints: Vec<usize> = self.graph.endpoints.clone();
                    let names: Vec<&str> =
                        endpoints.iter().map(|&e| self.graph.nodes[e].name.as_str()).collect();
                    match names::select(std::slice::from_ref(key), &names) {
                        Ok(hits) => hits.into_iter().map(|i| self.ids[endpoints[i]]).collect(),
                        Err(_) => {
                            let finding = Diagnostic::error("SC024", pointer, no_match("endpoint", key))
                                .help("write an endpoint, a pattern, a destination id or \"default\"")
                                .did_you_mean_name(key, names)
                                .at_key();
                            self.out.push(finding);
                            continue;
                        }
                    }
                };
                for id in ids {
                    match config.routes.entries.get_mut(id as usize) {
                        Some(entry) => {
                            entry.egress = egress;
                            set[id as usize] = true;
                        }
                        None => {
                            let message = format!("destination id {id} belongs to nobody");
                            let help = format!("ids in use: up to {}", owners.len() - 1);
                            self.out.push(
                                Diagnostic::error("SC024", pointer.clone(), message).help(help).at_key(),
                            );
                        }
                    }
                }
            }
        }
    }

    /// Multicast masks: one tree of shortest paths over the members, the same from every side.
    fn multicast(&mut self, config: &mut FabricConfig) {
        let spec = self.spec;
        for (i, group) in spec.multicast.iter().flatten().enumerate() {
            let pointer = format!("/multicast/{i}/members");
            let endpoints = self.graph.endpoints.clone();
            let names: Vec<&str> = endpoints.iter().map(|&e| self.graph.nodes[e].name.as_str()).collect();
            let members: Vec<usize> = match names::select(group.members.patterns(), &names) {
                Ok(hits) => hits.into_iter().map(|h| endpoints[h]).collect(),
                Err(pattern) => {
                    let finding = Diagnostic::error(
                        "SC023",
                        traffic::element(&pointer, &group.members, &pattern),
                        no_match("endpoint", &pattern),
                    )
                    .help(format!("endpoints: {}", shortened(names.iter().copied())))
                    .did_you_mean_name(&pattern, names.iter().copied());
                    self.out.push(finding);
                    continue;
                }
            };
            let id = self.groups[&group.name];
            let Some(masks) = self.tree(&members) else {
                let message = format!("the members of \"{}\" are not connected", group.name);
                self.out.push(Diagnostic::error("SC023", pointer, message));
                continue;
            };
            for (device, mask) in masks {
                let limit = self.settings[device].preset().masks_max;
                let DeviceModel::Switch(own) = &mut config.devices[device].model else { continue };
                let index = own.routes.masks.len();
                if index >= limit {
                    let message =
                        format!("\"{}\" has only {limit} multicast masks", self.graph.nodes[device].name);
                    self.once(Diagnostic::error("SC023", format!("/multicast/{i}"), message));
                    continue;
                }
                own.routes.masks.push(mask);
                own.routes.mask_next_hops.push(vec![0; usize::from(self.graph.ports(device))]);
                if let Some(entry) = own.routes.entries.get_mut(id as usize) {
                    *entry = Route { egress: Egress::Multicast(index as u8), next_hop: NO_PORT };
                }
            }
        }
    }

    /// Port masks of the tree over the members, for every switch; a switch off the tree sends towards it.
    fn tree(&self, members: &[usize]) -> Option<BTreeMap<usize, u64>> {
        let first = self.neighbours[*members.first()?][0]?.1;
        // Breadth-first from the switch of the first member: every switch knows the port towards it.
        let mut towards: BTreeMap<usize, (usize, u8, u8)> = BTreeMap::new();
        let mut queue = std::collections::VecDeque::from([first]);
        let mut order = vec![first];
        while let Some(at) = queue.pop_front() {
            for (port, link) in self.neighbours[at].iter().enumerate() {
                let Some((_, other, other_port)) = *link else { continue };
                if self.graph.is_switch(other) && other != first && !towards.contains_key(&other) {
                    towards.insert(other, (at, other_port, port as u8));
                    queue.push_back(other);
                    order.push(other);
                }
            }
        }
        let mut masks: BTreeMap<usize, u64> = BTreeMap::new();
        for &member in members {
            let (_, mut at, port) = self.neighbours[member][0]?;
            *masks.entry(at).or_default() |= 1 << port;
            while at != first {
                let &(before, up, down) = towards.get(&at)?;
                *masks.entry(at).or_default() |= 1 << up;
                *masks.entry(before).or_default() |= 1 << down;
                at = before;
            }
        }
        for at in order {
            if let (false, Some(&(_, up, _))) = (masks.contains_key(&at), towards.get(&at)) {
                masks.insert(at, 1 << up);
            }
        }
        Some(masks)
    }

    /// Follows every route: does everything arrive, can the fabric deadlock?
    fn follow(&mut self, config: &FabricConfig) -> fabric::Walk {
        let walk = fabric::walk(config);
        let accepted = self.spec.routing.as_ref().and_then(|r| r.allow_deadlock) == Some(true);
        let name = |device: u32| config.devices[device as usize].path.as_str();
        let mut found = Vec::new();
        if let Some(((id, _), Fate::Loop(cycle))) =
            walk.lost.iter().find(|(_, fate)| matches!(fate, Fate::Loop(_)))
        {
            let mut names: Vec<&str> = cycle.iter().map(|&d| name(d)).collect();
            names.push(names[0]);
            let target = name(config.owners[*id as usize]);
            let message =
                format!("packets for \"{target}\" (id {id}) go round for ever: {}", names.join(" -> "));
            found.push(
                Diagnostic::error("SC021", "/routing/tables", message).help("correct one of these switches"),
            );
        } else if let Some(cycle) = fabric::channel_cycle(config, &walk) {
            let mut steps: Vec<String> =
                cycle.iter().map(|&(d, p)| fabric::port_name(config, d, p)).collect();
            const SHOWN: usize = 12;
            if steps.len() > SHOWN {
                let more = steps.len() - SHOWN;
                steps.truncate(SHOWN);
                steps.push(format!("... {more} more ..."));
            }
            steps.push(steps[0].clone());
            let message = format!("links can wait for each other in a circle: {}", steps.join(" -> "));
            let finding = if accepted {
                Diagnostic::warning("SC075", "/routing/allow_deadlock", message)
            } else {
                Diagnostic::error("SC022", "/routing", message)
                    .help("use another routing method, or accept it with \"allow_deadlock\": true")
            };
            found.push(finding);
        }
        self.out.append(&mut found);
        walk
    }

    /// Destinations that some endpoints cannot reach: errors where traffic needs them are found with the traffic.
    fn lost(&mut self, config: &FabricConfig, walk: &fabric::Walk) {
        let strays = walk.lost.iter().filter(|(_, fate)| !matches!(fate, Fate::Loop(_)));
        let mut count = 0;
        let mut first = None;
        for ((id, switch), fate) in strays {
            count += 1;
            first.get_or_insert((*id, *switch, fate.clone()));
        }
        let Some((id, switch, fate)) = first else { return };
        let name = |device: u32| config.devices[device as usize].path.as_str();
        let target = config.owners[id as usize];
        let why = match fate {
            Fate::Dropped(at) => format!("\"{}\" has no route for it", name(at)),
            Fate::Astray(at) => format!("it arrives at \"{}\"", name(at)),
            Fate::Loop(_) => "it goes round for ever".into(),
        };
        let message = format!(
            "a packet for \"{}\" (id {id}) that enters at \"{}\" is lost: {why}",
            name(target),
            name(switch)
        );
        let more = if count > 1 {
            format!("{count} pairs of entry switch and destination are concerned")
        } else {
            String::new()
        };
        let finding = Diagnostic::warning("SC073", "/routing", message);
        let finding = if more.is_empty() { finding } else { finding.help(more) };
        self.out.push(finding);
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

fn route_target(target: &RouteTarget, ports: u8, switch: &str) -> Result<Egress, (String, String)> {
    let help = format!("allowed: \"drop\" or a port, 0 to {}", ports - 1);
    match target {
        RouteTarget::Port(port) if *port < u32::from(ports) => Ok(Egress::Port(*port as u8)),
        RouteTarget::Port(port) => Err((format!("port {port} of \"{switch}\" does not exist"), help)),
        RouteTarget::Word(word) if word == "drop" => Ok(Egress::Drop),
        RouteTarget::Word(word) => Err((format!("\"{word}\" is not a route"), help)),
    }
}

/// Fills in the second level of routing from the tables of the neighbours (VOQ-2.2-5).
pub fn next_hops(config: &mut FabricConfig) {
    let wires = fabric::wires(config);
    // Egress port of every switch by id; shared with the endpoints that hang on the switch.
    let mut egress: Vec<Arc<Vec<u8>>> = Vec::with_capacity(config.devices.len());
    for device in &config.devices {
        let ports = match &device.model {
            DeviceModel::Switch(own) => own.routes.entries.iter().map(|route| match route.egress {
                Egress::Port(port) => port,
                Egress::Multicast(_) | Egress::Drop => NO_PORT,
            }),
            DeviceModel::Endpoint(_) => {
                egress.push(Arc::default());
                continue;
            }
        };
        egress.push(Arc::new(ports.collect()));
    }
    let mut masks: Vec<(usize, usize, usize, u64)> = Vec::new();
    for (device, ports) in wires.iter().enumerate() {
        let Some(own) = fabric::switch(config, device as u32) else { continue };
        for (id, route) in own.routes.entries.iter().enumerate() {
            let Egress::Multicast(mask) = route.egress else { continue };
            let bits = own.routes.masks[usize::from(mask)];
            for port in (0..ports.len()).filter(|p| bits >> p & 1 == 1) {
                if let Some((_, next, ingress)) = ports[port] {
                    masks.push((
                        device,
                        usize::from(mask),
                        port,
                        fabric::mask_behind(config, next, ingress, id as u32),
                    ));
                }
            }
        }
    }
    for (device, mask, port, bits) in masks {
        if let DeviceModel::Switch(own) = &mut config.devices[device].model {
            own.routes.mask_next_hops[mask][port] = bits;
        }
    }
    for (device, ports) in wires.iter().enumerate() {
        match &mut config.devices[device].model {
            DeviceModel::Switch(own) => {
                for (id, route) in own.routes.entries.iter_mut().enumerate() {
                    let Egress::Port(port) = route.egress else { continue };
                    let next = ports.get(usize::from(port)).copied().flatten();
                    route.next_hop = next
                        .and_then(|(_, next, _)| egress[next as usize].get(id).copied())
                        .unwrap_or(NO_PORT);
                }
            }
            DeviceModel::Endpoint(own) => {
                if let (Some((_, next, _)), true) = (ports[0], own.staging != StagingConfig::None) {
                    own.next_hop = Arc::clone(&egress[next as usize]);
                }
            }
        }
    }
}
