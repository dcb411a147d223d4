//! Devices: the settings of all, overrides and presets in layers, and what comes out.

use super::filled;
use crate::compile::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::expand::{self, Layer};
use crate::flow;
use crate::names;
use crate::presets::{self, Preset};
use crate::spec::*;
use crate::topology::shortened;
use crate::units::Ratio;
use models::config::{Arbitration, Buffering, HostConfig, InputQueueing, ServiceTime};
use models::sim_core::Duration;

/// Settings of one device, complete.
pub(crate) struct Device {
    /// Where they stand.
    pub(crate) origin: String,
    /// What it is.
    pub(crate) preset: &'static Preset,
    /// Receive buffers of each port.
    pub(crate) input_buffers: u8,
    /// Watermarks that its neighbours apply.
    pub(crate) watermarks: [u8; 3],
    /// Staging queues of each output.
    pub(crate) staging: Staging,
    /// Where that stands.
    pub(crate) staging_origin: String,
    /// Registers of each port, as far as no override changes those of one.
    pub(crate) voq: PortVoqSpec,
    /// What only one kind of device has.
    pub(crate) kind: Kind,
}

/// What only one kind of device has.
pub(crate) enum Kind {
    Switch(Switch),
    Endpoint(Box<Endpoint>),
}

/// A switch.
pub(crate) struct Switch {
    pub(crate) input: InputQueueing,
    pub(crate) buffering: Buffering,
    pub(crate) arbitration: Arbitration,
    pub(crate) slot: Option<Duration>,
    pub(crate) reads_per_input: u8,
    pub(crate) forwarding: ForwardingKind,
    pub(crate) pipeline: Duration,
}

/// An endpoint.
pub(crate) struct Endpoint {
    pub(crate) host: Host,
    /// As a node of LINX: layers of settings over no defaults yet, because few scenarios ask.
    pub(crate) linx: Option<LinxNodeSpec>,
    /// As a node of session management, in the same way.
    pub(crate) session: Option<SessionNodeSpec>,
}

/// The software side of an endpoint.
pub(crate) struct Host {
    pub(crate) config: HostConfig,
    /// Time of protocols in a unit of time of the fabric; or why there is none.
    pub(crate) clock: Result<(u64, u64), String>,
    /// How long an answer may take, by the protocol clock.
    pub(crate) response_timeout: Period,
    /// By the protocol clock, picoseconds.
    pub(crate) retry_delay: u64,
    pub(crate) stream_packets: u32,
}

/// Settings of a device while they are put together.
enum Layers {
    Switch(Box<SwitchSpec>),
    Endpoint(Box<EndpointSpec>),
}

impl Device {
    fn new(c: &Compiler<'_>, layers: Layers, origin: String) -> Self {
        let (device, input_buffers, watermarks, staging, voq, kind) = match &layers {
            Layers::Switch(s) => {
                let preset = presets::switch(filled::<String>(&s.device));
                (preset, s.input_buffers, s.watermarks, &s.staging, &s.voq, Kind::Switch(Switch::new(s)))
            }
            Layers::Endpoint(e) => {
                let preset = presets::endpoint(filled::<String>(&e.device));
                let kind = Kind::Endpoint(Box::new(Endpoint::new(e)));
                (preset, e.input_buffers, e.watermarks, &e.staging, &e.voq, kind)
            }
        };
        let staging_origin = match staging {
            Some(_) => format!("{origin}/staging"),
            None => "/voq/staging".to_owned(),
        };
        Self {
            preset: device.expect("the name of a preset was checked"),
            input_buffers: *filled(&input_buffers),
            watermarks: *filled(&watermarks),
            staging: staging.clone().unwrap_or_else(|| c.voq.staging.clone()),
            staging_origin,
            voq: filled(voq).clone(),
            kind,
            origin,
        }
    }

    /// The endpoint that it is.
    pub(crate) fn endpoint(&self) -> Option<&Endpoint> {
        match &self.kind {
            Kind::Switch(_) => None,
            Kind::Endpoint(endpoint) => Some(endpoint),
        }
    }
}

impl Switch {
    fn new(s: &SwitchSpec) -> Self {
        let packets = *filled(&s.buffer_packets);
        Self {
            input: match filled(&s.input) {
                InputKind::Fifo => InputQueueing::Fifo,
                InputKind::Voq => InputQueueing::Voq,
            },
            buffering: match filled(&s.buffering) {
                BufferingKind::Direct => Buffering::Direct,
                BufferingKind::Crosspoint => Buffering::Crosspoint { depth: packets },
                BufferingKind::Output => Buffering::Output { packets },
            },
            arbitration: match filled(&s.arbitration) {
                ArbitrationKind::RoundRobin => Arbitration::RoundRobin,
                ArbitrationKind::OldestFirst => Arbitration::OldestFirst,
                ArbitrationKind::LongestQueueFirst => Arbitration::LongestQueueFirst,
                ArbitrationKind::Random => Arbitration::Random,
                ArbitrationKind::Islip => Arbitration::Islip { iterations: *filled(&s.iterations) },
            },
            slot: match filled(&s.slot).get() {
                Period::Time(slot) => Some(Duration(slot)),
                Period::Auto | Period::Off => None,
            },
            reads_per_input: *filled(&s.reads_per_input),
            forwarding: *filled(&s.forwarding),
            pipeline: Duration(filled(&s.pipeline).get()),
        }
    }
}

impl Endpoint {
    fn new(e: &EndpointSpec) -> Self {
        let host = e.host.clone().unwrap_or_default().over(expand::host_defaults());
        Self { host: Host::new(&host), linx: e.linx.clone(), session: e.session.clone() }
    }
}

impl Host {
    fn new(host: &HostSpec) -> Self {
        Self {
            config: HostConfig {
                rx_service: service(filled(&host.rx_service)),
                tx_service: service(filled(&host.tx_service)),
                rx_queue: *filled(&host.rx_queue),
            },
            clock: filled(&host.protocol_clock).read().and_then(clock),
            response_timeout: filled(&host.response_timeout).get(),
            retry_delay: filled(&host.retry_delay).get(),
            stream_packets: *filled(&host.stream_packets),
        }
    }
}

fn clock(ratio: Ratio) -> Result<(u64, u64), String> {
    match ratio.pair() {
        Some((num, den)) if num > 0 && den > 0 => Ok((num, den)),
        _ => Err("it has to be positive, with at most 19 digits".into()),
    }
}

/// A service time.
pub(crate) fn service(spec: &ServiceSpec) -> ServiceTime {
    let time = |time: &Quantity<Picoseconds>| Duration(time.get());
    match spec {
        ServiceSpec::Fixed(one) => ServiceTime::Fixed(time(one)),
        ServiceSpec::Random(ServiceKind::Exponential(mean)) => ServiceTime::Exponential(time(mean)),
        ServiceSpec::Random(ServiceKind::Uniform([low, high])) => ServiceTime::Uniform(time(low), time(high)),
    }
}

impl Compiler<'_> {
    /// The settings of all devices.
    pub(crate) fn resolve_devices(&mut self) {
        let spec = self.spec;
        let (base_switch, base_endpoint) = (filled(&spec.switch), filled(&spec.endpoint));
        let mut layers: Vec<(Layers, String)> = Vec::new();
        for device in 0..self.graph.nodes.len() {
            layers.push(match self.graph.is_switch(device) {
                true => (Layers::Switch(Box::new(base_switch.clone())), "/switch".into()),
                false => (Layers::Endpoint(Box::new(base_endpoint.clone())), "/endpoint".into()),
            });
        }
        for (i, change) in spec.overrides.iter().flatten().enumerate() {
            let Some(patterns) = &change.devices else { continue };
            let pointer = format!("/overrides/{i}");
            let names = self.device_names();
            let hits = match names::select(patterns.patterns(), &names) {
                Ok(hits) => hits,
                Err(pattern) => {
                    let finding = Diagnostic::error(
                        "SC011",
                        flow::element(&format!("{pointer}/devices"), patterns, &pattern),
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
                let (layers, origin) = &mut layers[device];
                match layers {
                    Layers::Switch(base) => {
                        let Some(user) = &change.switch else { continue };
                        **base = match user.device.as_deref().and_then(presets::switch) {
                            Some(preset) => user.over(&preset.switch_settings()).over(base),
                            None => user.over(base),
                        };
                        *origin = format!("{pointer}/switch");
                    }
                    Layers::Endpoint(base) => {
                        let Some(user) = &change.endpoint else { continue };
                        **base = match user.device.as_deref().and_then(presets::endpoint) {
                            Some(preset) => user.over(&preset.endpoint_settings()).over(base),
                            None => user.over(base),
                        };
                        *origin = format!("{pointer}/endpoint");
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
        let resolved = layers.into_iter().map(|(layers, origin)| Device::new(self, layers, origin)).collect();
        self.devices = resolved;
        for device in 0..self.graph.nodes.len() {
            self.check_settings(device);
        }
    }

    fn check_settings(&mut self, device: usize) {
        let Device { origin, preset, input_buffers: buffers, watermarks: marks, .. } = &self.devices[device];
        let (origin, preset, buffers, marks) = (origin.clone(), *preset, *buffers, *marks);
        let name = self.graph.nodes[device].name.clone();
        let ports = self.graph.ports(device);
        if let Kind::Switch(own) = &self.devices[device].kind {
            let (buffering, reads) = (own.buffering, own.reads_per_input);
            crate::effect::switch(self, &origin, buffering, reads);
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
}
