//! From an expanded scenario to the dense configuration that the models run.

use crate::compiler::Compiler;
use crate::configure;
use crate::diagnostic::Diagnostic;
use crate::fabric;
use crate::flow;
use crate::medium;
use crate::plan::{Labels, Variant};
use crate::resolved::Kind;
use crate::routing;
use crate::sampling;
use crate::spec::*;
use crate::tables;
use crate::topology::{self, shortened};
use crate::translators;
use models::config::*;
use models::lp_serial::cost::SymbolSize;
use models::sim_core::Duration;
use std::sync::Arc;

/// Of a switch that tells nobody of congestion.
const SILENT: PortRules =
    PortRules { detector: None, refresh: None, generation_delay: Duration::ZERO, after_recovery: true };

/// Compiles one expanded scenario. `None` if anything found is an error, unless it is about what comes when
/// the run is over: whoever cuts a run short takes that for a warning ([`cut_short`]).
///
/// [`cut_short`]: crate::diagnostic::cut_short
pub(crate) fn compile(name: &str, spec: &Spec, out: &mut Vec<Diagnostic>) -> Option<Variant> {
    let mut found = Vec::new();
    let variant = compile_into(name, spec, &mut found);
    let stops = |item: &Diagnostic| item.severity == crate::diagnostic::Severity::Error && !item.beyond_run;
    let broken = found.iter().any(stops);
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
    let mut c = Compiler::new(spec, graph, out);
    c.resolve_devices();
    c.resolve_links();
    medium::check(&mut c);
    c.identifiers();
    let before = c.out.len();
    c.translation = translators::resolve(&mut c);
    if c.out.len() > before {
        // What they should have joined would be out of reach.
        return None;
    }
    let staging = c.staging();
    let ports = c.ports();
    crate::effect::obedience(&mut c);
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
    c.check_sets(&config);
    config.voq_writes = c.voq_writes(&config);
    let (walk, routes) = c.follow(&config);
    let before = c.out.len();
    let demand = flow::compile(&mut c, &mut config, &walk);
    if c.out.len() == before {
        c.lost(&config, &walk);
    }
    c.finish(config, routes, demand, name)
}

impl Compiler<'_> {
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
        let mut unicast = self.unicast(tables, id_space as usize);
        let mut devices = Vec::with_capacity(self.graph.nodes.len());
        for (device, ports) in ports.into_iter().enumerate() {
            let model = match self.graph.is_switch(device) {
                true => {
                    let entries = std::mem::take(&mut unicast[device]);
                    DeviceModel::Switch(self.switch(device, entries, &ports, staging[device].clone()))
                }
                false => DeviceModel::Endpoint(EndpointConfig {
                    ids: vec![self.ids[device]],
                    staging: staging[device].clone(),
                    next_hop: Arc::default(),
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
                link_crc: wire.symbol == SymbolSize::Idle3 && wire.medium.is_none(),
                ack_window: wire.symbol.ack_id_window(),
                propagation: Duration(wire.propagation),
            }
        });
        FabricConfig {
            seed: self.seed,
            shake: *filled(&self.spec.shake),
            devices,
            links: links.collect(),
            ids: self.id_size(),
            id_space,
            owners,
            flows: Vec::new(),
            sources: Vec::new(),
            agents: Vec::new(),
            enumeration: self.host.as_ref().map(|host| host.config),
            symbol_losses: Vec::new(),
            voq_writes: Vec::new(),
            media: Vec::new(),
            translation: self.translation.clone(),
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
        entries: IdTable<Route>,
        ports: &[PortConfig],
        staging: StagingConfig,
    ) -> SwitchConfig {
        let generates = ports.iter().any(|port| port.voq.gen_en) || self.is_enabled_later(device);
        let Kind::Switch(s) = &self.devices[device].kind else { unreachable!("called for switches only") };
        let rules = if generates { self.rules(device) } else { Vec::new() };
        let first = rules.first().map_or(SILENT, |(rules, _)| *rules);
        let alike = rules.iter().all(|(rules, _)| *rules == first);
        SwitchConfig {
            input: s.input,
            buffering: s.buffering,
            arbitration: s.arbitration,
            slot: s.slot,
            reads_per_input: s.reads_per_input,
            forwarding: match s.forwarding {
                ForwardingKind::StoreAndForward => Forwarding::StoreAndForward,
                // The destination id is complete after 3 octets with 8-bit ids, 4 with 16-bit ids.
                ForwardingKind::CutThrough => Forwarding::CutThrough { header: 2 + self.id_bits / 8 },
            },
            pipeline: s.pipeline,
            routes: RouteTable { entries, masks: Vec::new(), mask_next_hops: Vec::new() },
            detector: first.detector,
            refresh: first.refresh,
            generation_delay: first.generation_delay,
            after_recovery: first.after_recovery,
            port_rules: if alike { Vec::new() } else { rules.iter().map(|(rules, _)| *rules).collect() },
            leave_out_stopped: s.leave_out_stopped && generates,
            queue_quota: s.queue_quota,
            staging,
        }
    }

    /// Times of the run, labels, what to measure.
    fn finish(
        &mut self,
        mut config: FabricConfig,
        routes: fabric::Routes,
        demand: flow::Demand,
        name: &str,
    ) -> Option<Variant> {
        config.sample_every = match self.run.sample_every {
            Period::Off => None,
            Period::Auto => Some(sampling::every(self.run.until, &config)),
            Period::Time(time) => Some(Duration(time)),
        };
        config.stall_after = match self.run.stall_after {
            Period::Off => None,
            Period::Auto => Some(self.stall_after(&config)),
            Period::Time(time) => Some(Duration(time)),
        };
        config.stop_on_stall = self.run.on_stall == OnStall::Stop;
        self.losses(&mut config);
        self.check_channels(&config);
        self.faults(&mut config);
        crate::effect::deeds(self);
        crate::effect::moot(self);
        crate::effect::lanes(self, &config);
        crate::flow::outranked::warn(self, &config);
        let detectors = crate::check::physics(self, &config);
        let port = |end: (u32, u8)| self.graph.port_name((end.0 as usize, end.1));
        let labels = Labels {
            devices: config.devices.iter().map(|d| d.path.clone()).collect(),
            links: config.links.iter().map(|l| format!("{}-{}", port(l.a), port(l.b))).collect(),
            flows: config.flows.iter().map(|f| f.name.clone()).collect(),
        };
        let declare = filled(&self.spec.declare).clone();
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
        for (i, flow) in victims.iter().enumerate() {
            if hot.contains(flow) {
                let message = format!("flow \"{}\" is a victim and hot", labels.flows[usize::from(*flow)]);
                let help = "victims are what hot flows hold up: declare it as one of both";
                let finding = Diagnostic::error("SC105", format!("/declare/victims/{i}"), message).help(help);
                let named = self.spec.declare.iter().flat_map(|declare| declare.hot.iter().flatten());
                let place = named.into_iter().position(|name| *name == labels.flows[usize::from(*flow)]);
                self.out.push(match place {
                    Some(place) => finding.also(format!("/declare/hot/{place}"), "hot here"),
                    None => finding,
                });
            }
        }
        let require = self.requirements(&labels);
        Some(Variant {
            name: name.to_owned(),
            config: Arc::new(config),
            until: self.run.until,
            warmup: self.run.warmup,
            labels,
            victims,
            hot,
            compare_with: None,
            offered: demand.offered,
            routes,
            detectors,
            require,
        })
    }

    /// A packet that stands still longer than this is stuck: 1 000 packet times and 4 round trips, and at
    /// least 2 refresh periods, because a refresh may set it free.
    fn stall_after(&self, config: &FabricConfig) -> Duration {
        const PACKETS: u128 = 1_000;
        const PACKET_CHARS: u128 = fabric::LONGEST_PACKET as u128 + 8;
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
}
