//! Part 12 settings: which port may and does send messages, who stages, when a port counts as congested.

use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::names;
use crate::resolved::{Device, Enumeration, Kind};
use crate::spec::*;
use models::config::*;
use models::lp_serial::cost::{SymbolSize, VC_REFRESH_MANDATORY_UNITS, VC_REFRESH_UNIT_CODE_GROUPS};
use models::sim_core::{Duration, Time};
use models::voq_backpressure::csr;
use std::collections::BTreeMap;

impl Compiler<'_> {
    /// Staging of every device.
    pub fn staging(&mut self) -> Vec<StagingConfig> {
        let mut all = Vec::new();
        // By the place of a table: its entries, and the most ports of a neighbour of a device that has it.
        let mut tables = BTreeMap::new();
        for device in 0..self.graph.nodes.len() {
            if !self.voq.enabled {
                // Off means off: the fabric behaves as if Part 12 did not exist (VOQ-1.1-4).
                all.push(StagingConfig::None);
                continue;
            }
            let Device { staging, staging_origin, kind, .. } = &self.devices[device];
            let (staging, pointer) = (staging.clone(), staging_origin.clone());
            let name = self.graph.nodes[device].name.clone();
            if let (Kind::Switch(s), true) = (kind, staging != Staging::None)
                && s.input == InputQueueing::Fifo
                && s.buffering == Buffering::Direct
            {
                let message = format!(
                    "switch \"{name}\" cannot stage: its inputs are FIFOs without buffers behind them"
                );
                let help =
                    "use \"input\": \"voq\", buffers (\"crosspoint\", \"output\"), or \"staging\": \"none\"";
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
                let most: &mut (usize, usize) = tables.entry(pointer.clone()).or_default();
                *most = (table.len(), needed.max(most.1));
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
        for (pointer, (entries, most)) in tables.into_iter().filter(|(_, (entries, most))| entries > most) {
            let message = format!(
                "the table names the queues of {entries} ports, but no neighbour has more than {most}"
            );
            self.out.push(Diagnostic::warning("SC033", pointer, message).help("one entry for each port"));
        }
        all
    }

    /// Registers of every port, with where each setting comes from.
    fn registers(&mut self) -> Vec<Vec<(PortVoqSpec, String)>> {
        let mut all: Vec<Vec<(PortVoqSpec, String)>> = (0..self.graph.nodes.len())
            .map(|device| {
                let one = (self.devices[device].voq.clone(), format!("{}/voq", self.devices[device].origin));
                vec![one; usize::from(self.graph.ports(device))]
            })
            .collect();
        let spec = self.spec;
        for (i, change) in spec.overrides.iter().flatten().enumerate() {
            let (Some(port), Some(registers)) = (&change.port, &change.voq) else { continue };
            let mut hit = false;
            for (device, ports) in all.iter_mut().enumerate() {
                for (number, slot) in (0..).zip(ports.iter_mut()) {
                    if self.graph.is_port_like((device, number), port) {
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

    pub fn ports(&mut self) -> Vec<Vec<PortConfig>> {
        let registers = self.registers();
        // Links of other media have said that they know nothing of it.
        let enabled = self.voq.enabled && self.wires.iter().all(|wire| wire.medium.is_none());
        let honours = |c: &Self, device: usize, port: u8| {
            *filled(&registers[device][usize::from(port)].0.rx_sup)
                // Who has no queues to stop cannot honour a message (VOQ-2.2-8).
                && (!enabled || c.devices[device].staging != Staging::None)
        };
        let mut generating = false;
        let mut all = Vec::new();
        for (device, slots) in registers.iter().enumerate() {
            let mut ports = Vec::new();
            for (port, (own, pointer)) in (0..).zip(slots) {
                if !self.graph.is_switch(device) {
                    crate::effect::endpoint_port(self, pointer, own);
                }
                let gen_sup = *filled(&own.gen_sup);
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
                    buffers: self.devices[device].input_buffers,
                    watermarks: self.devices[device].watermarks,
                    voq: PortVoq {
                        gen_sup,
                        rx_sup: honours(self, device, port),
                        gen_en: wants,
                        part: enabled && *filled(&own.part) && self.graph.is_switch(device),
                        xoff: enabled && *filled(&own.xoff),
                        link_sup: false,
                        link_en: false,
                        obey: match &own.obey_latency {
                            _ if !enabled => Duration::ZERO,
                            Some(latency) => Duration(latency.get()),
                            None => self.voq.obey_latency,
                        },
                    },
                });
            }
            all.push(ports);
        }
        let later = || (0..self.graph.nodes.len()).any(|device| self.is_enabled_later(device));
        if enabled && !generating && !later() {
            let message =
                "VoQ backpressure is enabled, but no port sends messages to a neighbour that honours them";
            let help = "give switches gen_sup and their neighbours rx_sup and staging, or disable it";
            self.once(Diagnostic::error("SC037", "/voq/enabled", message).help(help));
        }
        self.registers = registers;
        if enabled {
            self.link_messages(&mut all);
        }
        all
    }

    /// LINK_EN of all ports (VOQ-3.2-6, Part 12 §5.1.2.2): where both ends of a link stage inside virtual
    /// channels.
    fn link_messages(&mut self, ports: &mut [Vec<PortConfig>]) {
        let mut able: Vec<Vec<bool>> = Vec::new();
        for (device, own) in ports.iter().enumerate() {
            let able_here: Vec<bool> =
                (0..).zip(own).map(|(n, port)| self.can_link(device, n, port)).collect();
            able.push(able_here);
        }
        for (own, able) in ports.iter_mut().zip(&able) {
            own.iter_mut().zip(able).for_each(|(port, &able)| port.voq.link_sup = able);
        }
        if !self.voq.linked {
            return;
        }
        let mut any = false;
        for (device, own) in ports.iter_mut().enumerate() {
            let mut first = None;
            for (n, port) in own.iter_mut().enumerate() {
                let Some((link, other, back)) = self.neighbours[device][n] else { continue };
                port.voq.link_en = able[device][n] && able[other][usize::from(back)];
                let channels = self.wires[link].channels.as_ref().map(|channels| channels.channels);
                if port.voq.link_en && *first.get_or_insert(channels) != channels {
                    let name = &self.graph.nodes[device].name;
                    let message = format!("links of \"{name}\" have different numbers of virtual channels");
                    let help = "give linked messages the same \"vcs\" on all links of a switch";
                    self.once(Diagnostic::error("SC083", "/voq/linked", message).help(help));
                }
                any |= port.voq.link_en;
            }
        }
        if !any {
            let message =
                "messages cannot be linked: no link has virtual channels inside which both ends stage";
            let help = "give links \"vcs\" and devices \"staging\", or leave it out";
            self.once(Diagnostic::error("SC083", "/voq/linked", message).help(help));
        }
    }

    /// LINK_SUP: whether a port can link messages with the channels of its link. An endpoint has nothing to
    /// report, so what it could send does not matter (VOQ-D36).
    fn can_link(&mut self, device: usize, port: u8, own: &PortConfig) -> bool {
        let wire = self.neighbours[device][usize::from(port)].map(|(link, ..)| &self.wires[link]);
        let carries = wire.is_some_and(|wire| wire.channels.is_some() && wire.symbol == SymbolSize::Long);
        let sends = !self.graph.is_switch(device) || own.voq.gen_sup;
        let able = carries && own.voq.rx_sup && sends;
        let (registers, pointer) = &self.registers[device][usize::from(port)];
        let asked = registers.link_sup;
        if asked == Some(true) && !able {
            let name = self.graph.port_name((device, port));
            let message = format!("LINK_SUP is set on \"{name}\", which cannot link messages");
            let help =
                "it needs virtual channels, long control symbols, staging, rx_sup, and in a switch gen_sup";
            let pointer = format!("{pointer}/link_sup");
            self.once(Diagnostic::error("SC084", pointer, message).help(help));
        }
        able && asked != Some(false)
    }

    /// What each port of a switch judges by and how it tells of it, and where its thresholds stand.
    pub fn rules(&self, device: usize) -> Vec<(PortRules, String)> {
        let rules = |(own, pointer): &(PortVoqSpec, String)| {
            let Thresholds { on: x_on, off: x_off } = own.thresholds.unwrap_or(self.voq.thresholds);
            let verdict = match own.verdict.unwrap_or(self.voq.verdict) {
                VerdictKind::Shared => Verdict::Shared,
                VerdictKind::PerIngress => Verdict::PerIngress,
            };
            let period = own.refresh.as_ref().map_or(self.voq.refresh, Quantity::get);
            let delay = own.generation_delay.as_ref().map(|delay| Duration(delay.get()));
            let place = if own.thresholds.is_some() { pointer.as_str() } else { "/voq" };
            let rules = PortRules {
                detector: Some(Detector { x_on, x_off, verdict }),
                refresh: self.refresh(device, period),
                generation_delay: delay.unwrap_or(self.voq.generation_delay),
                after_recovery: own.after_recovery.unwrap_or(self.voq.after_recovery),
            };
            (rules, format!("{place}/thresholds"))
        };
        self.registers[device].iter().map(rules).collect()
    }

    /// Whether a write lets a port of a switch send messages that may not send any at first.
    pub fn is_enabled_later(&self, device: usize) -> bool {
        (0..self.graph.ports(device)).any(|port| self.is_port_enabled_later((device, port)))
    }

    /// Whether a write lets this port of a switch send messages.
    pub fn is_port_enabled_later(&self, (device, port): (usize, u8)) -> bool {
        let name = || self.graph.port_name((device, port));
        let enables =
            |write: &VoqWriteSpec| write.gen_en == Some(true) && names::matches(&write.port, &name());
        self.voq.enabled
            && self.graph.is_switch(device)
            && filled(&filled(&self.spec.voq).writes).iter().any(enables)
    }

    /// The entry that gives a port these thresholds at this time.
    pub fn thresholds_written(&self, at: Time, port: &str, detector: Detector) -> Option<String> {
        let given = Thresholds { on: detector.x_on, off: detector.x_off };
        let it = |write: &VoqWriteSpec| {
            write.at.get() == at.0 && write.thresholds == Some(given) && names::matches(&write.port, port)
        };
        let found = filled(&filled(&self.spec.voq).writes).iter().position(it)?;
        Some(format!("/voq/writes/{found}"))
    }

    /// Writes to registers and thresholds during the run, in the order of time.
    pub fn voq_writes(&mut self, config: &FabricConfig) -> Vec<VoqWrite> {
        let spec = self.spec;
        let (mut all, mut through) = (Vec::new(), Vec::new());
        for (i, write) in filled(&filled(&spec.voq).writes).iter().enumerate() {
            let pointer = format!("/voq/writes/{i}");
            let at = Time(write.at.get());
            let bits = [(write.gen_en, csr::GEN_EN), (write.part, csr::PART), (write.xoff, csr::XOFF)];
            let given = bits.iter().filter_map(|&(bit, mask)| Some((bit?, mask)));
            let (mask, value) =
                given.fold((0, 0), |(all, on), (bit, mask)| (all | mask, if bit { on | mask } else { on }));
            let mut hit = false;
            let mut unreached = Vec::new();
            for device in 0..self.graph.nodes.len() {
                if !self.graph.is_switch(device) {
                    continue;
                }
                for port in 0..self.graph.ports(device) {
                    let name = self.graph.port_name((device, port));
                    if !names::matches(&write.port, &name) {
                        continue;
                    }
                    hit = true;
                    if write.gen_en == Some(true) {
                        self.check_enable(config, (device, port), &format!("{pointer}/gen_en"));
                    }
                    // What bits of the register tell is judged by them.
                    if let Some(thresholds) = write.thresholds {
                        let change = new_thresholds(config, (device, port), thresholds);
                        all.extend(change.map(|change| VoqWrite { at, device: device as u32, port, change }));
                    }
                    if mask != 0 {
                        let change = VoqChange::Register { mask, value };
                        let write = VoqWrite { at, device: device as u32, port, change };
                        // What is set up through the fabric is changed through it as well. For thresholds
                        // Part 12 has no register.
                        match self.host.as_ref().map(|host| self.through_fabric(host, config, &write)) {
                            None => all.push(write),
                            Some(Some(write)) => through.push(write),
                            Some(None) => unreached.push(name),
                        }
                    }
                }
            }
            if let Some(first) = unreached.first().filter(|_| self.voq.enabled) {
                let more = match unreached.len() - 1 {
                    0 => String::new(),
                    more => format!(" (and {more} more)"),
                };
                let message =
                    format!("the host cannot write to \"{first}\"{more}: no route of its leads there");
                let help =
                    "nothing to do if that is meant; otherwise leave it out, or let the builder set it up";
                self.out.push(Diagnostic::warning("SC123", format!("{pointer}/port"), message).help(help));
            }
            if !hit {
                let message = no_match("port of a switch", &write.port);
                let help = "write \"switch:port\"";
                self.out.push(Diagnostic::error("SC012", format!("{pointer}/port"), message).help(help));
            }
        }
        all.sort_by_key(|write| write.at);
        if !self.voq.enabled {
            return Vec::new();
        }
        through.sort_by_key(|write: &HostWrite| write.at);
        if let Some(host) = &mut self.host {
            host.writes = through;
        }
        all
    }

    /// How the host reaches the register: by an id whose way leads through the switch.
    fn through_fabric(
        &self,
        host: &Enumeration,
        config: &FabricConfig,
        write: &VoqWrite,
    ) -> Option<HostWrite> {
        let VoqChange::Register { mask, value } = write.change else { return None };
        let (_, first, _) = self.neighbours[host.config.host as usize][0]?;
        let offset = host.plan.voq[write.device as usize]? + 4 * u32::from(write.port);
        let passed = |id: u32| {
            let mut at = first;
            for hops in 0..config.devices.len() {
                if at == write.device as usize {
                    return u8::try_from(hops).ok();
                }
                let port = host.plan.tables[at].get(id as usize).copied().flatten()?;
                at = self.neighbours[at][usize::from(port)]?.1;
            }
            None
        };
        let (destination, hop_count) = (0..config.id_space).find_map(|id| Some((id as u16, passed(id)?)))?;
        let &VoqWrite { at, device, port, .. } = write;
        Some(HostWrite { at, device, port, destination, hop_count, offset, mask, value })
    }

    /// Generation may be enabled only if the neighbour receives messages, and there is a place for them.
    fn check_enable(&mut self, config: &FabricConfig, (device, port): (usize, u8), pointer: &str) {
        let own = &config.devices[device].ports[usize::from(port)].voq;
        let wire = self.neighbours[device][usize::from(port)];
        let willing =
            wire.is_some_and(|(_, other, back)| config.devices[other].ports[usize::from(back)].voq.rx_sup);
        let symbol = wire.map(|(link, _, _)| self.wires[link].symbol);
        let pointer = pointer.strip_suffix("/gen_en").unwrap_or(pointer);
        self.check_generation(device, port, own.gen_sup, willing, symbol, pointer);
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
        // A host sets GEN_EN wherever a port can generate messages.
        let bit = if self.host.is_some() { "gen_sup" } else { "gen_en" };
        let off = format!("set \"{bit}\": false for port \"{name}\" in \"overrides\"");
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
                    "the link of \"{name}\" is 64b/67b: Part 12 of revision 2 lives in the 48-bit symbol of \
                     8b/10b links"
                );
                let help = format!("use 6.25 Gbaud or less, or {off}");
                self.once(Diagnostic::error("SC035", "/voq/enabled", message).help(help));
            }
            Some(SymbolSize::Long) | None => {}
        }
    }

    /// Refresh period of a switch: 16 x 1024 code-groups of its slowest link unless the file says otherwise.
    fn refresh(&self, device: usize, period: Period) -> Option<Duration> {
        match period {
            Period::Off => None,
            Period::Auto => {
                let links = self.neighbours[device].iter().flatten();
                let slowest = links.map(|&(link, _, _)| self.wires[link].rate).min()?;
                let one = slowest.lane_character_ps();
                let groups = VC_REFRESH_MANDATORY_UNITS * VC_REFRESH_UNIT_CODE_GROUPS;
                Some(Duration(u64::from(groups) * one.numerator / one.denominator))
            }
            Period::Time(time) => Some(Duration(time)),
        }
    }
}

/// New thresholds of a port, if it has a detector.
fn new_thresholds(config: &FabricConfig, at: (usize, u8), thresholds: Thresholds) -> Option<VoqChange> {
    let DeviceModel::Switch(own) = &config.devices[at.0].model else { return None };
    let Thresholds { on: x_on, off: x_off } = thresholds;
    own.rules(at.1.into()).detector.map(|_| VoqChange::Thresholds { x_on, x_off })
}
