//! Devices and links one by one.

use super::{Builder, Defaults, Edge, Graph, Node, Shape, good_name, ports_fit, shortened, within};
use crate::diagnostic::Diagnostic;
use crate::settings::LinkSpec;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Devices and links one by one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplicitSpec {
    /// Devices.
    pub devices: Vec<ExplicitDevice>,
    /// Links.
    pub links: Vec<ExplicitLink>,
}

/// One device: a switch if `ports` is given, else an endpoint.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplicitDevice {
    /// Unique name.
    pub name: String,
    /// Ports of a switch; absent for an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<u32>,
    /// Destination id of an endpoint (default: the lowest free one, in order).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
}

/// One link between two ports.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplicitLink {
    /// One end: "device:port"; the port of an endpoint may be left out.
    pub a: String,
    /// The other end.
    pub b: String,
    /// Settings of this link that differ from the others'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<LinkSpec>,
}

impl Defaults for ExplicitSpec {}

/// The graph.
pub(super) fn build(spec: &ExplicitSpec, root: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let before = out.len();
    let mut b = Builder::default();
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, device) in spec.devices.iter().enumerate() {
        let pointer = format!("{root}/devices/{i}");
        if let Err(why) = good_name(&device.name) {
            out.push(Diagnostic::error("SC009", format!("{pointer}/name"), why));
        }
        if let Some(&first) = by_name.get(device.name.as_str()) {
            let message = format!("a second device is called \"{}\"", device.name);
            out.push(
                Diagnostic::error("SC015", format!("{pointer}/name"), message)
                    .also(format!("{root}/devices/{first}/name"), "the first one"),
            );
            continue;
        }
        by_name.insert(&device.name, i);
        let ports = u64::from(device.ports.unwrap_or(1));
        let at = format!("{pointer}/ports");
        let what = format!("switch \"{}\"", device.name);
        if ports_fit(out, &at, &what, ports) {
            within(out, &at, ports, 1, PORTS_MAX as u64);
        }
        if let (Some(_), Some(_)) = (device.ports, device.id) {
            let message = format!(
                "\"{}\" has ports, so it is a switch, and a switch has no destination id",
                device.name
            );
            out.push(
                Diagnostic::error("SC004", format!("{pointer}/id"), message)
                    .help("remove id or ports")
                    .at_key(),
            );
        }
    }
    if before != out.len() {
        return None;
    }
    for (i, device) in spec.devices.iter().enumerate() {
        let pointer = format!("{root}/devices/{i}");
        let ports = device.ports.map(|p| p as u8);
        b.nodes.push(Node { name: device.name.clone(), ports, id: device.id, pointer });
    }
    let mut used: BTreeMap<(usize, u8), String> = BTreeMap::new();
    for (i, link) in spec.links.iter().enumerate() {
        let pointer = format!("{root}/links/{i}");
        let mut ends = Vec::new();
        for (key, text) in [("a", &link.a), ("b", &link.b)] {
            let at = format!("{pointer}/{key}");
            let Some(end) = resolve_end(spec, root, &by_name, text, &at, out) else { continue };
            if let Some(first) = used.get(&end) {
                let message = format!("port {} of \"{}\" already has a link", end.1, b.nodes[end.0].name);
                out.push(Diagnostic::error("SC013", at, message).also(first.clone(), "the first one"));
                continue;
            }
            used.insert(end, at);
            ends.push(end);
        }
        if let [x, y] = ends[..] {
            b.edges.push(Edge { a: x, b: y, set: link.set.clone(), pointer });
        }
    }
    for node in b.nodes.iter().enumerate().filter(|(i, n)| n.ports.is_none() && !used.contains_key(&(*i, 0)))
    {
        let message = format!("endpoint \"{}\" has no link", node.1.name);
        let help = "link it to a port of a switch, or remove it";
        out.push(Diagnostic::error("SC025", node.1.pointer.clone(), message).help(help));
    }
    if before != out.len() { None } else { Some(b.finish(|_| Shape::Plain)) }
}

/// Device and port of `device:port`; an endpoint may leave out its only port.
fn resolve_end(
    spec: &ExplicitSpec,
    root: &str,
    by_name: &BTreeMap<&str, usize>,
    text: &str,
    at: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, u8)> {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let Some(&device) = by_name.get(name) else {
        let message = format!("there is no device \"{name}\"");
        let names = by_name.keys().copied();
        let help = format!("devices: {}", shortened(names.clone()));
        out.push(Diagnostic::error("SC014", at, message).help(help).did_you_mean(name, names));
        return None;
    };
    let ports = spec.devices[device].ports;
    let number = match (port, ports) {
        (None, None) => 0,
        (None, Some(n)) => {
            let message = format!("\"{name}\" is a switch; say which of its ports");
            let help = format!("write \"{name}:0\" to \"{name}:{}\"", n.saturating_sub(1));
            out.push(Diagnostic::error("SC012", at, message).help(help));
            return None;
        }
        (Some(text), _) => text.parse::<u32>().unwrap_or(u32::MAX),
    };
    let count = ports.unwrap_or(1);
    if number >= count {
        let message = format!("port {} of \"{name}\" does not exist", port.unwrap_or("?"));
        let help = match ports {
            Some(_) => format!("switch \"{name}\" has ports 0 to {}", count - 1),
            None => format!("\"{name}\" is an endpoint: its only port is 0"),
        };
        let place = format!("{root}/devices/{device}");
        out.push(Diagnostic::error("SC012", at, message).help(help).also(place, "the device"));
        return None;
    }
    Some((device, number as u8))
}
