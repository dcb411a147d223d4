//! Events as text and as JSON.

use super::{Entry, Tracer, What, class, fact_name, reason};
use crate::num::time_text;
use models::config::FabricConfig;
use models::sim_core::Time;
use serde_json::{Value, json};

/// An instant to the picosecond: `12.345678 µs`.
pub(super) fn instant(at: Time) -> String {
    format!("{}.{:06} µs", at.0 / 1_000_000, at.0 % 1_000_000)
}

/// A duration to the picosecond: `1.234567 µs`, `113.600 ns`.
pub(super) fn exact(ps: u64) -> String {
    if ps >= 1_000_000 { instant(Time(ps)) } else { format!("{}.{:03} ns", ps / 1_000, ps % 1_000) }
}

/// Names of devices and flows.
pub(crate) struct Names<'a> {
    config: &'a FabricConfig,
    width: usize,
}

/// `device:port`; an endpoint with one port has its name alone.
pub fn port_text(config: &FabricConfig, (device, port): (u32, u8)) -> String {
    let config = &config.devices[device as usize];
    if config.ports.len() > 1 { format!("{}:{port}", config.path) } else { config.path.clone() }
}

impl<'a> Names<'a> {
    pub fn new(config: &'a FabricConfig) -> Self {
        let width = config.devices.iter().map(|device| device.path.chars().count()).max().unwrap_or(0);
        Names { config, width }
    }

    pub fn device(&self, device: u32) -> &'a str {
        &self.config.devices[device as usize].path
    }

    pub fn port(&self, device: u32, port: u8) -> String {
        port_text(self.config, (device, port))
    }

    pub fn flow(&self, flow: u16) -> &'a str {
        &self.config.flows[usize::from(flow)].name
    }
}

impl Tracer {
    /// An event as a line for people.
    pub(super) fn line(&self, names: &Names<'_>, entry: &Entry) -> String {
        let text = match &entry.what {
            What::Asked { packet, destination, hop_count, offset, name, write } => {
                let name = name.as_deref().unwrap_or("register");
                let (verb, value) = match write {
                    Some(value) => ("writes", format!(" = {value:#010x}")),
                    None => ("reads", String::new()),
                };
                let number = self.number(*packet);
                format!(
                    "{verb} {name} (offset {offset:#08x}){value} of device id {destination:#x} at hop \
                     {hop_count}, packet {number}"
                )
            }
            What::Answered { by, name, write, error, took } => {
                let from = by.map_or("nobody".into(), |(device, port, _)| names.port(device, port));
                let name = name.as_deref().unwrap_or("register");
                let value = match (by, write, error) {
                    (_, _, true) => format!("ERROR: {name}"),
                    (Some((_, _, value)), false, _) => format!("{name} is {value:#010x}"),
                    _ => format!("{name} is written"),
                };
                format!("  answer: {value}, from {from}, {} after the request", exact(*took))
            }
            What::Delivered { packet, delivery } => format!(
                "gets packet {} of flow {} from {}: {} octets, {}, {} after it was created",
                self.number(*packet),
                names.flow(delivery.flow),
                names.device(delivery.source),
                delivery.payload,
                class(delivery.priority),
                time_text(delivery.latency() as f64)
            ),
            What::Dropped { packet, dropped } => format!(
                "drops packet {} of flow {}: {}",
                self.number(*packet),
                names.flow(dropped.flow),
                reason(dropped.reason)
            ),
            What::Edge(edge) => {
                let verb = if edge.stopped { "XOFF stops" } else { "XON releases" };
                let channel = match edge.channel {
                    0 => String::new(),
                    channel => format!(" in channel {channel}"),
                };
                format!("{verb} staging queue {}{channel} of port {}", edge.queue, edge.port)
            }
            What::Message(message) => format!(
                "takes message {} of flow {} from {}: {} octets, {} after it was sent",
                message.sequence,
                names.flow(message.flow),
                names.device(message.source),
                message.payload,
                time_text(message.latency() as f64)
            ),
            What::Fact(event) => format!("flow {}: {}", names.flow(event.flow), fact_name(event.fact)),
        };
        let (at, width) = (instant(entry.at), names.width);
        format!("{at:>17}  {:<width$}  {text}", names.device(entry.device))
    }

    /// An event as one line of JSON.
    pub(super) fn json(&self, names: &Names<'_>, entry: &Entry) -> String {
        let mut value = match &entry.what {
            What::Asked { packet, destination, hop_count, offset, name, write } => json!({
                "step": "asked", "packet": self.number(*packet), "destination": destination,
                "hop_count": hop_count, "offset": offset, "register": name, "write": write,
            }),
            What::Answered { by, name, write, error, took } => json!({
                "step": "answered", "took_ps": took, "error": error, "register": name,
                "by": by.map(|(device, _, _)| names.device(device)),
                "port": by.map(|(_, port, _)| port),
                "value": by.filter(|_| !write).map(|(_, _, value)| value),
            }),
            What::Delivered { packet, delivery } => json!({
                "packet": self.number(*packet), "flow": names.flow(delivery.flow),
                "source": names.device(delivery.source), "payload": delivery.payload,
                "priority": delivery.priority, "created_ps": delivery.created.0,
                "latency_ps": delivery.latency(),
            }),
            What::Dropped { packet, dropped } => json!({
                "packet": self.number(*packet), "flow": names.flow(dropped.flow),
                "reason": reason(dropped.reason),
            }),
            What::Edge(edge) => json!({
                "port": edge.port, "channel": edge.channel, "queue": edge.queue,
                "step": if edge.stopped { "xoff" } else { "xon" },
            }),
            What::Message(message) => json!({
                "flow": names.flow(message.flow), "source": names.device(message.source),
                "sequence": message.sequence, "payload": message.payload,
                "created_ps": message.created.0, "latency_ps": message.latency(),
            }),
            What::Fact(event) => json!({"flow": names.flow(event.flow), "fact": format!("{:?}", event.fact)}),
        };
        if let Value::Object(fields) = &mut value {
            fields.insert("at_ps".into(), entry.at.0.into());
            fields.insert("kind".into(), entry.what.kind().name().into());
            fields.insert("device".into(), names.device(entry.device).into());
        }
        value.to_string()
    }
}
