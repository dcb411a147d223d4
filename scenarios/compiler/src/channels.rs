//! Virtual channels VC1 to VC8: settings of links, and what goes with them.

use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, Severity};
use crate::spec::*;
use models::config::*;
use models::lp_serial::cost::SymbolSize;
use models::sim_core::Duration;

/// Buffers that VC_status tells of exactly, with a short and a long control symbol.
const BUFFERS_MAX: [u16; 2] = [29, 61];
/// Code-groups of a lane in the default period of VC_status.
const REFRESH_CODE_GROUPS: u64 = 16 * 1_024;

impl Compiler<'_> {
    /// The channels that the settings of a link ask for; `pointer` is where they stand.
    pub fn channels(
        &mut self,
        spec: &VcsSpec,
        pointer: &str,
        symbol: SymbolSize,
        lane_char_ps: (u64, u64),
    ) -> Option<ChannelsConfig> {
        let channels = match spec.count {
            1 => Channels::One,
            2 => Channels::Two,
            4 => Channels::Four,
            8 => Channels::Eight,
            _ => return None,
        };
        let most = match symbol {
            SymbolSize::Short => BUFFERS_MAX[0],
            SymbolSize::Long => BUFFERS_MAX[1],
            SymbolSize::Idle3 => {
                let message = "virtual channels of 64b/67b links are not modelled";
                let help = "use a link of 6.25 Gbaud or less";
                self.once(Diagnostic::error("SC067", pointer.to_owned(), message).help(help));
                return None;
            }
        };
        let mut spec = spec.clone();
        spec.fill();
        let count = usize::from(spec.count);
        let buffers = u16::from(*filled(&spec.buffers));
        if buffers > most {
            let message = format!("{buffers} buffers: the control symbols of the link tell of {most}");
            self.once(Diagnostic::error("SC030", format!("{pointer}/buffers"), message));
        }
        let shares = filled(&spec.shares);
        if shares.len() != count {
            let message = format!("{} shares for {count} virtual channels", shares.len());
            let help = "give one share for each channel, in their order; that of VC0 is \"vc0_share\"";
            self.once(Diagnostic::error("SC069", format!("{pointer}/shares"), message).help(help));
            return None;
        }
        let continuous = usize::from(*filled(&spec.continuous));
        if continuous > count {
            let message = format!("{continuous} channels of continuous traffic, but there are {count}");
            self.once(Diagnostic::error("SC069", format!("{pointer}/continuous"), message));
            return None;
        }
        let refresh = match filled(&spec.refresh).read() {
            Ok(Period::Auto) => Some(REFRESH_CODE_GROUPS * lane_char_ps.0 / lane_char_ps.1),
            Ok(Period::Off) => None,
            Ok(Period::Time(0)) => {
                let message = "a time of 0 is not possible here";
                self.once(Diagnostic::error("SC008", format!("{pointer}/refresh"), message));
                return None;
            }
            Ok(Period::Time(time)) => Some(time),
            Err(why) => {
                self.once(Diagnostic::error("SC007", format!("{pointer}/refresh"), why));
                return None;
            }
        };
        let mut vcs = [VcConfig { buffers, ..VcConfig::default() }; 8];
        for (n, (vc, &share)) in vcs.iter_mut().zip(shares).enumerate() {
            vc.share = share;
            if n >= count - continuous {
                vc.traffic = Traffic::Continuous;
            }
        }
        let refresh = refresh.map(Duration);
        Some(ChannelsConfig { channels, vcs, vc0_share: spec.vc0_share, refresh })
    }

    /// What links with virtual channels ask of everything around them.
    pub fn check_channels(&mut self, config: &FabricConfig) {
        for link in 0..self.wires.len() {
            if self.wires[link].channels.is_none() {
                continue;
            }
            let pointer = format!("{}/vcs", self.wires[link].pointer);
            if config.enumeration.is_some() {
                let message = "the registers of virtual channels are not modelled: no host can set them up";
                self.once(
                    Diagnostic::error("SC069", pointer, message).help("use \"configure\": \"builder\""),
                );
            }
            for (device, _) in [config.links[link].a, config.links[link].b] {
                if let DeviceModel::Switch(switch) = &config.devices[device as usize].model {
                    self.check_channels_at(device as usize, switch);
                }
            }
        }
        self.check_channel_flows();
    }

    fn check_channels_at(&mut self, device: usize, switch: &SwitchConfig) {
        let name = self.graph.nodes[device].name.clone();
        let rules = [
            (switch.input == InputQueueing::Voq, "input", "\"input\": \"voq\""),
            (switch.buffering == Buffering::Direct, "buffering", "\"buffering\": \"direct\""),
            (
                switch.forwarding == Forwarding::StoreAndForward,
                "forwarding",
                "\"forwarding\": \"store_and_forward\"",
            ),
            (
                switch.arbitration.serves_channels(),
                "arbitration",
                "\"round_robin\", \"oldest_first\" or \"random\"",
            ),
            (switch.slot.is_none(), "slot", "\"slot\": \"off\""),
        ];
        for (_, field, wanted) in rules.into_iter().filter(|rule| !rule.0) {
            let message = format!("\"{name}\" has links with virtual channels, which do not go with this");
            let pointer = format!("{}/{field}", self.devices[device].origin);
            self.once(Diagnostic::error("SC069", pointer, message).help(format!("use {wanted} for it")));
        }
    }

    /// Flows in virtual channels: packets of traffic sources, to endpoints, over links that have channels.
    fn check_channel_flows(&mut self) {
        let spec = self.spec;
        // Links whose settings are wrong are reported already.
        let broken = self.out.iter().any(|found| found.severity == Severity::Error);
        let lacks = self.wires.iter().position(|wire| wire.channels.is_none() && !broken);
        for (i, flow) in spec.traffic.iter().enumerate().filter(|(_, flow)| flow.vc.is_some_and(|vc| vc != 0))
        {
            let at = format!("/traffic/{i}/vc");
            let mut refuse = |message: String, help: &str| {
                let finding = Diagnostic::error("SC069", at.clone(), message);
                self.out.push(if help.is_empty() { finding } else { finding.help(help) });
            };
            if crate::flow::is_protocol(flow) {
                refuse(
                    "protocols send in VC0: its requests and responses belong there".into(),
                    "leave it out",
                );
            }
            if matches!(flow.arrivals, Some(ArrivalSpec::Trace(_))) {
                refuse("the packets of a trace have priorities, and travel in VC0".into(), "leave it out");
            }
            if flow.priority.is_some_and(|priority| priority != 0) {
                refuse("a packet in a virtual channel has no priority".into(), "give one of the two");
            }
            if let Some(group) = self.groups.iter().find(|(name, id)| goes_to(flow.to.as_ref(), name, **id)) {
                refuse(
                    format!(
                        "the members of \"{}\" get copies: multicast in virtual channels is not \
                    modelled",
                        group.0
                    ),
                    "send in VC0",
                );
            }
            if let Some(link) = lacks {
                let edge = &self.graph.edges[link];
                let names = [edge.a, edge.b].map(|(device, _)| &self.graph.nodes[device].name);
                let message = format!("the link {} - {} has no virtual channels", names[0], names[1]);
                refuse(message, "give all links of the fabric \"vcs\"");
            }
        }
    }
}

/// Whether a flow may go to a multicast group.
fn goes_to(to: Option<&To>, name: &str, id: u32) -> bool {
    match to {
        Some(To::Name(to)) => to == name,
        Some(To::Id(to)) => *to == id,
        Some(To::Pattern(ToPattern::Cycle(list))) => list.iter().any(|to| to == name),
        Some(To::Pattern(ToPattern::Incast(incast))) => incast.target == name,
        _ => false,
    }
}
