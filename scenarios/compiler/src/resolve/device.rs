//! Devices: the settings of all, overrides and presets in layers, and what comes out.

use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::expand;
use crate::names;
use crate::presets;
use crate::resolved::{Device, Endpoint, Host, Kind, Switch};
use crate::spec::*;
use crate::topology::shortened;

/// Settings of a device while they are put together.
enum Layers {
    Switch(Box<SwitchSpec>),
    Endpoint(Box<EndpointSpec>),
}

/// What the layers of a device come to; they stand at `origin`.
fn device(c: &Compiler<'_>, layers: Layers, origin: String) -> Device {
    let (device, input_buffers, watermarks, staging, voq, kind) = match &layers {
        Layers::Switch(s) => {
            let preset = presets::switch(filled::<String>(&s.device));
            (preset, s.input_buffers, s.watermarks, &s.staging, &s.voq, Kind::Switch(Switch::new(s)))
        }
        Layers::Endpoint(e) => {
            let preset = presets::endpoint(filled::<String>(&e.device));
            let kind = Kind::Endpoint(Box::new(endpoint(e)));
            (preset, e.input_buffers, e.watermarks, &e.staging, &e.voq, kind)
        }
    };
    let staging_origin = match staging {
        Some(_) => format!("{origin}/staging"),
        None => "/voq/staging".to_owned(),
    };
    Device {
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

fn endpoint(e: &EndpointSpec) -> Endpoint {
    let host = e.host.clone().unwrap_or_default().over(expand::host_defaults());
    Endpoint { host: Host::new(&host), linx: e.linx.clone(), session: e.session.clone() }
}

impl Compiler<'_> {
    /// The settings of all devices.
    pub fn resolve_devices(&mut self) {
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
                        patterns.place(&format!("{pointer}/devices"), &pattern),
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
        let resolved = layers.into_iter().map(|(layers, origin)| device(self, layers, origin)).collect();
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
            let own = own.clone();
            crate::effect::switch(self, &origin, &own);
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
