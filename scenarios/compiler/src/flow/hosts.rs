//! The software of endpoints that take part in flows with hosts.

use super::messages;
use super::transfer::Clock;
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::resolved::Host;
use crate::spec::Period;
use crate::units::time_text;
use models::config::*;
use std::collections::BTreeMap;

/// One end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub device: usize,
    pub flow: u16,
    /// `None`: it only receives.
    pub source: Option<SourceConfig>,
    /// What it is; `None`: the host that sets the fabric up.
    pub node: Option<ProtocolConfig>,
}

/// How long a response may take, unless it is given, in time of the fabric.
const RESPONSE_TIMEOUT: u64 = 1_000_000_000;

/// The software of an endpoint.
///
/// # Panics
/// If the device is a switch.
pub(crate) fn host<'a>(c: &'a Compiler<'_>, device: usize) -> &'a Host {
    &c.devices[device].endpoint().expect("flows end at endpoints").host
}

/// The protocol clock of an endpoint; 1 if it is none, of which [`agents`] complains.
pub(crate) fn ratio(c: &Compiler<'_>, device: usize) -> (u64, u64) {
    *host(c, device).clock.as_ref().unwrap_or(&(1, 1))
}

/// An endpoint that is an interface of a host in one flow is nothing else in another: what comes through
/// it is that host's.
fn check_interfaces(c: &mut Compiler<'_>, parts: &[Placed]) {
    let interfaces = |placed: &Placed| match &placed.node {
        Some(ProtocolConfig::Transfer(end)) => end.interfaces.clone(),
        Some(ProtocolConfig::Translator(own)) => own.device.interfaces.iter().map(|own| own.id).collect(),
        _ => vec![c.ids[placed.device] as u16],
    };
    // The hosts by the ids of their interfaces, each with a flow that makes it one.
    let mut hosts: BTreeMap<u16, (u16, Vec<u16>)> = BTreeMap::new();
    for placed in parts {
        let own = interfaces(placed);
        for &id in own.iter().filter(|_| own.len() > 1) {
            hosts.entry(id).or_insert_with(|| (placed.flow, own.clone()));
        }
    }
    for placed in parts {
        let own = interfaces(placed);
        let other = own.iter().find_map(|id| Some((*id, hosts.get(id).filter(|host| host.1 != own)?)));
        let Some((id, (flow, host))) = other.filter(|(_, (_, host))| own != host[..1]) else { continue };
        let name = |id: u16| {
            let device = c.ids.iter().position(|own| *own == u32::from(id)).expect("somebody has the id");
            c.graph.nodes[device].name.clone()
        };
        let message =
            format!("\"{}\" is an interface of the host \"{}\" in another flow", name(id), name(host[0]));
        let finding = Diagnostic::error("SC048", format!("/traffic/{}/st", placed.flow), message)
            .help("name the first endpoint of that host, or give both flows the same hosts")
            .also(format!("/traffic/{flow}/st/stripes"), "the other flow");
        c.out.push(finding);
        return;
    }
}

/// Whether the nodes of an endpoint, one in each flow, have different ports: whose frames would they be else?
fn check_ports(c: &mut Compiler<'_>, parts: &[Placed]) {
    let mut taken: BTreeMap<(usize, u16), u16> = BTreeMap::new();
    for placed in parts {
        let Some(ProtocolConfig::Linx(node)) = &placed.node else { continue };
        let first = *taken.entry((placed.device, node.port)).or_insert(placed.flow);
        if first == placed.flow {
            continue;
        }
        let name = c.graph.nodes[placed.device].name.clone();
        let message = format!("port {} of \"{name}\" has a node in another flow already", node.port);
        let finding = Diagnostic::error("SC085", format!("/traffic/{}/linx", placed.flow), message);
        let help =
            "give this flow other ports (\"src_port\", \"dst_port\"), or name all endpoints in one flow";
        c.out.push(finding.help(help).also(format!("/traffic/{first}/linx"), "the other flow"));
        return;
    }
}

/// The agents of all endpoints that take part in such flows.
pub(crate) fn agents(c: &mut Compiler<'_>, mut parts: Vec<Placed>) -> Vec<AgentConfig> {
    check_interfaces(c, &parts);
    check_ports(c, &parts);
    super::session::shared::share(c, &mut parts);
    super::initialise::assign(c, &mut parts);
    let mut by_device: BTreeMap<usize, Vec<PartConfig>> = BTreeMap::new();
    for Placed { device, flow, source, node } in parts {
        let protocol = match (node, &c.host) {
            (Some(node), _) => node,
            // The only flow with hosts that the file does not list.
            (None, Some(host)) => host.protocol(),
            // Two devices of one id are one for the flow, and the error is told of already.
            (None, None) => {
                assert!(c.has_errors(), "every end of a flow is a node");
                continue;
            }
        };
        by_device.entry(device).or_default().push(PartConfig { flow, protocol, source });
    }
    let mtu = messages::mtu(c.spec);
    let mut agents = Vec::new();
    for (device, mut parts) in by_device {
        parts.sort_by_key(|part| part.flow);
        if let Err(why) = &host(c, device).clock {
            let at = format!("{}/host/protocol_clock", c.devices[device].origin);
            let message = format!("a protocol clock that does not run: {why}");
            let help = "allowed: a number (1000) or a fraction (\"1/3\") above 0";
            c.once(Diagnostic::error("SC008", at, message).help(help));
        }
        let clock = ratio(c, device);
        if Clock(clock).protocol(c.run.until.0) == u64::MAX {
            let at = format!("{}/host/protocol_clock", c.devices[device].origin);
            let longest = Clock(clock).fabric(u64::MAX - 1) - 1;
            // A number that can be read: ten digits are enough.
            let digits = 10u64.pow(longest.max(1).ilog10().saturating_sub(9));
            let longest = time_text(longest / digits * digits);
            let message = "the protocol clock runs beyond 2^64 ps (213 days), which is as far as it counts";
            let help = format!("a slower clock, or a run of at most {longest}");
            c.once(Diagnostic::error("SC008", at, message).help(help));
        }
        let host = host(c, device);
        let response_timeout = match host.response_timeout {
            Period::Time(time) => time,
            Period::Auto | Period::Off => Clock(clock).protocol(RESPONSE_TIMEOUT).max(1),
        };
        let Some(mtu) = mtu else { continue };
        let config = AgentConfig {
            device: device as u32,
            id: c.ids[device],
            ids: c.id_size(),
            host: host.config,
            clock,
            response_timeout,
            retry_delay: host.retry_delay,
            stream_packets: host.stream_packets,
            mtu,
            parts,
        };
        agents.push(config);
    }
    agents
}
