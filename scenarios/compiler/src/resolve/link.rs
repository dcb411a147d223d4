//! Links: the settings of all, of one, and overrides in layers, and what comes out.

use crate::check::LANE_RATES;
use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::expand;
use crate::medium;
use crate::resolved::Wire;
use crate::spec::*;
use crate::topology::Edge;
use models::lp_serial::cost::{LaneRate, SymbolSize, Width};

/// Settings of some links over those of all: the rate of another medium means nothing.
fn over(own: &LinkSpec, lower: &LinkSpec) -> LinkSpec {
    let changes = own.medium.is_some() && medium::named(own.medium) != medium::named(lower.medium);
    if !changes {
        return own.over(lower);
    }
    let LinkSpec { length, phy_latency, .. } = lower.clone();
    own.over(&LinkSpec { length, phy_latency, ..expand::link_defaults(medium::named(own.medium)) })
}

impl Compiler<'_> {
    /// The settings of all links.
    pub fn resolve_links(&mut self) {
        let spec = self.spec;
        let common = filled(&spec.links);
        let mut hit = vec![false; spec.overrides.iter().flatten().count()];
        for link in 0..self.graph.edges.len() {
            let edge = self.graph.edges[link].clone();
            let mut settings = common.clone();
            let mut pointer = "/links".to_owned();
            if let Some(own) = &edge.set {
                settings = over(own, &settings);
                pointer = format!("{}/set", edge.pointer);
            }
            for (i, change) in spec.overrides.iter().flatten().enumerate() {
                let (Some(pattern), Some(own)) = (&change.link, &change.links) else { continue };
                if [edge.a, edge.b].into_iter().any(|end| self.graph.is_end_like(end, pattern)) {
                    hit[i] = true;
                    settings = over(own, &settings);
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
                let least = u16::from(self.devices[device].preset.lanes_least);
                taken[device] += (wire.width.lanes() as u16).max(least);
            }
        }
        for (device, taken) in taken.into_iter().enumerate() {
            let preset = self.devices[device].preset;
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

    fn wire(&mut self, edge: &Edge, settings: &LinkSpec, pointer: &str) -> Wire {
        let propagation = filled(&settings.length).get() + filled(&settings.phy_latency).get();
        if propagation == 0 {
            let message = "length and phy_latency are both 0: a link must have a delay";
            self.once(Diagnostic::error("SC008", pointer.to_owned(), message).help("even 1 cm takes 50 ps"));
        }
        if let Some(medium) = medium::named(settings.medium) {
            let ends = [edge.a.0, edge.b.0];
            return medium::wire(self, ends, medium, settings, propagation.max(1), pointer);
        }
        let (text, lanes) = (filled(&settings.rate), filled(&settings.width).get());
        let of_lane = text.get().lane.ok();
        let rate = LaneRate::ALL.into_iter().find(|rate| Some(rate.kbaud() * 1_000) == of_lane);
        if rate.is_none() {
            let message = format!("\"{text}\" is not a lane rate of RapidIO");
            // Where links are of another medium, a rate in Gbaud could have been one of theirs.
            let help = match of_lane {
                Some(_) => LANE_RATES,
                None => "give the rate in Gbaud, or the \"medium\"",
            };
            self.once(Diagnostic::error("SC038", format!("{pointer}/rate"), message).help(help));
        }
        // What is said of a link with an error is said of the default.
        let rate = rate.unwrap_or(LaneRate::Gbaud6_25);
        let baud = rate.kbaud() * 1_000;
        let width = Width::ALL.into_iter().find(|width| width.lanes() == u32::from(lanes));
        let width = width.expect("a link has as many lanes as can be written");
        let presets = [edge.a, edge.b].map(|(device, _)| (device, self.devices[device].preset));
        for (device, preset) in presets {
            let name = self.graph.nodes[device].name.clone();
            if baud > preset.baud_max {
                let message = format!(
                    "the link to \"{name}\" runs at {}, but a {} reaches {} Gbaud",
                    text,
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
        let wanted = *filled(&settings.symbol);
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
            timeout: settings.timeout.as_ref().map(Quantity::get),
            channels,
            pointer: pointer.to_owned(),
        }
    }
}
