//! Settings of what is off in every run: they would have no effect.

use crate::diagnostic::{Diagnostic, Severity};
use crate::effect::Anyway;
use crate::names;
use crate::plan::Variant;
use crate::source::escape;
use crate::spec::*;
use models::agent::echo::EchoConfig;
use models::agent::initialise::ProcessorConfig;
use models::config::{
    Announcement, Arbitration, Buffering, Carrier, DeviceModel, FabricConfig, ProtocolConfig, SessionData,
    SwitchConfig,
};
use models::session_management::register::Contact;
use serde_json::Value;

/// Settings of a switch that only VoQ backpressure looks at. Of an endpoint it is the first alone.
const OF_DEVICES: [&str; 3] = ["staging", "queue_quota", "leave_out_stopped"];

/// Registers of ports that only VoQ backpressure looks at. What a device is able to do (GEN_SUP, RX_SUP) is
/// so in any case.
const OF_PORTS: [&str; 10] = [
    "gen_en",
    "part",
    "xoff",
    "link_sup",
    "thresholds",
    "verdict",
    "refresh",
    "generation_delay",
    "after_recovery",
    "obey_latency",
];

/// Settings of VoQ backpressure itself.
const OF_ALL: [&str; 9] = [
    "staging",
    "thresholds",
    "verdict",
    "refresh",
    "generation_delay",
    "after_recovery",
    "obey_latency",
    "linked",
    "writes",
];

/// Looks for settings without effect. `given` is the file as it was written; variants may give a setting,
/// too, by its place.
pub(super) fn check(
    given: &Spec,
    anyway: &Anyway,
    compiled: &[(Spec, Option<Variant>)],
    out: &mut Vec<Diagnostic>,
) {
    let text = serde_json::to_value(given).expect("a scenario is JSON");
    let mut seen = Seen { given, text, compiled, out };
    seen.routes();
    seen.switches(&anyway.switch);
    seen.endpoints(anyway);
    if is_on(compiled) {
        seen.idle_backpressure();
    } else {
        seen.no_backpressure();
    }
}

/// Whether VoQ backpressure is on in any run.
pub(super) fn is_on(compiled: &[(Spec, Option<Variant>)]) -> bool {
    compiled.iter().any(|(spec, _)| filled(&spec.voq).enabled == Some(true))
}

/// What there is in some run that hosts do something with.
#[derive(Default)]
struct Used {
    /// Messages, PDUs, doorbells and frames wait for them.
    queue: bool,
    /// Messages and doorbells may be answered by RETRY.
    retries: bool,
    /// Packets of type 9 are made ahead.
    streams: bool,
}

impl Used {
    fn by(&mut self, config: &FabricConfig) {
        for protocol in config.agents.iter().flat_map(|agent| &agent.parts).map(|part| &part.protocol) {
            match protocol {
                ProtocolConfig::Workload { carrier } | ProtocolConfig::Rpc { carrier, .. } => {
                    self.carried(*carrier);
                }
                ProtocolConfig::Linx(node) => self.carried(node.carrier),
                // Each contact of a peer says what goes there, and each node how it takes data.
                ProtocolConfig::Session(node) => {
                    let contacts = node.directory.values().flat_map(Announcement::contacts);
                    let managed = contacts.map(|contact| matches!(contact, Contact::Mailbox(_)));
                    let data = matches!(node.data, SessionData::Message(_));
                    for by_message in managed.chain([data]) {
                        self.queue = true;
                        self.retries |= by_message;
                        self.streams |= !by_message;
                    }
                }
                ProtocolConfig::Transfer(_) | ProtocolConfig::Translator(_) => {
                    (self.queue, self.streams) = (true, true);
                }
                ProtocolConfig::Enumerate { .. } => {}
                other @ ProtocolConfig::Plugged(_) => {
                    if let Some(echo) = other.plugged::<EchoConfig>() {
                        self.carried(echo.carrier);
                    } else if other.plugged::<ProcessorConfig>().is_none() {
                        *self = Used { queue: true, retries: true, streams: true };
                    }
                }
            }
        }
    }

    fn carried(&mut self, carrier: Carrier) {
        match carrier {
            Carrier::Message { .. } | Carrier::Doorbell { .. } => (self.queue, self.retries) = (true, true),
            Carrier::Stream { .. } => (self.queue, self.streams) = (true, true),
            Carrier::Read | Carrier::Write => {}
        }
    }
}

/// What is looked at.
struct Seen<'a> {
    given: &'a Spec,
    /// `given`, to be asked by places.
    text: Value,
    compiled: &'a [(Spec, Option<Variant>)],
    out: &'a mut Vec<Diagnostic>,
}

impl Seen<'_> {
    /// Places of a setting of all devices and of overrides, where it says more than its default.
    fn written(&self, key: &str, says: impl Fn(&Value) -> bool) -> Vec<String> {
        let overrides = 0..self.given.overrides.as_ref().map_or(0, Vec::len);
        let sections = overrides.map(|i| format!("/overrides/{i}"));
        let places = std::iter::once(String::new()).chain(sections).map(|section| format!("{section}/{key}"));
        let variants = || self.given.variants.iter().flatten();
        let is_there = |place: &String| {
            let own = self.text.pointer(place).into_iter();
            own.chain(variants().filter_map(|variant| variant.set.get(place))).any(&says)
        };
        places.filter(is_there).collect()
    }

    /// What is told of settings without effect.
    fn tell(&mut self, places: Vec<String>, why: &str, help: &str) {
        for place in places {
            let message = format!("this has no effect here: {why}");
            self.out.push(Diagnostic::error("SC051", place, message).help(help));
        }
    }

    /// Of places of a setting of switches those that are about no switch like this in any run. Where a run
    /// has mistakes it is not known.
    fn without(&self, places: Vec<String>, like: impl Fn(&SwitchConfig) -> bool) -> Vec<String> {
        let is_vain = |place: &String| {
            let mut parts = place.split('/').skip(1);
            let of =
                (parts.next() == Some("overrides")).then(|| parts.next()?.parse::<usize>().ok()).flatten();
            self.compiled.iter().all(|(spec, run)| {
                let Some(Variant { config, .. }) = run else { return false };
                let devices: Vec<&str> = config.devices.iter().map(|device| device.path.as_str()).collect();
                let change = of.and_then(|i| spec.overrides.as_ref()?.get(i)?.devices.as_ref());
                let about = match change {
                    Some(names) => names::select(names.patterns(), &devices).unwrap_or_default(),
                    None => (0..devices.len()).collect(),
                };
                !about.into_iter().any(|device| match &config.devices[device].model {
                    DeviceModel::Switch(switch) => like(switch),
                    DeviceModel::Endpoint(_) => false,
                })
            })
        };
        places.into_iter().filter(is_vain).collect()
    }

    /// What is left over by the entries of a table: a method leaves no id of an endpoint over.
    fn routes(&mut self) {
        let by_hand = |spec: &Spec| filled(&spec.routing).method == Some(RoutingMethod::Tables);
        if self.compiled.iter().any(|(spec, _)| by_hand(spec)) {
            return;
        }
        let tables = self.given.routing.iter().filter_map(|routing| routing.tables.as_ref()).flatten();
        let places = tables.filter(|(_, rows)| rows.contains_key("default"));
        let places =
            places.map(|(switch, _)| format!("/routing/tables/{}/default", escape(switch))).collect();
        let help = "leave it out, or use \"method\": \"tables\"";
        self.tell(places, "computed tables have an entry for each endpoint", help);
    }

    /// What only one policy, or one kind of buffers, has.
    fn switches(&mut self, anyway: &SwitchSpec) {
        // What is so anyway says nothing more: that a file with all defaults written out is no mistake.
        let rounds =
            self.written("switch/iterations", |own| own.as_u64() != anyway.iterations.map(Into::into));
        let matched = |own: &SwitchConfig| {
            matches!(own.arbitration, Arbitration::Islip { .. }) && own.buffering == Buffering::Direct
        };
        let rounds = self.without(rounds, matched);
        let help = "leave it out, or use \"arbitration\": \"islip\"";
        self.tell(rounds, "only \"islip\" without buffers behind the inputs goes by rounds", help);
        let packets = self
            .written("switch/buffer_packets", |own| own.as_u64() != anyway.buffer_packets.map(Into::into));
        let packets = self.without(packets, |own| own.buffering != Buffering::Direct);
        let help = "leave it out, or use a \"buffering\" other than \"direct\"";
        self.tell(packets, "there are no buffers behind the inputs", help);
    }

    /// What endpoints are to flows that are not there.
    fn endpoints(&mut self, anyway: &Anyway) {
        let compiled = self.compiled;
        let any =
            |named: fn(&FlowSpec) -> bool| compiled.iter().any(|(spec, _)| spec.traffic.iter().any(named));
        let hosts = any(anyway.runs_on_hosts)
            || compiled.iter().any(|(spec, _)| crate::configure::setup(spec).is_some());
        for (key, used, why) in [
            ("endpoint/host", hosts, "packets of plain traffic do not touch hosts"),
            ("endpoint/linx", any(|flow| flow.linx.is_some()), "there is no flow of LINX"),
            (
                "endpoint/session",
                any(|flow| flow.session.is_some() || flow.initialise.is_some()),
                "there is no flow of session management",
            ),
        ] {
            if !used {
                let places = self.written(key, |_| true);
                self.tell(places, why, "leave it out, or give a flow that needs it");
            }
        }
        if hosts {
            self.hosts(anyway);
        }
        let sessions =
            || compiled.iter().flat_map(|(spec, _)| &spec.traffic).filter_map(|f| f.session.as_ref());
        if sessions().next().is_some() && sessions().all(|own| own.program.is_some()) {
            let places = self.written("endpoint/session/consumer", |own| !own.is_null());
            let help = "leave it out: calculations of a program take their time";
            self.tell(places, "PDUs go to the program of the endpoint as they come", help);
        }
    }

    /// What hosts do only with some of what their flows send.
    fn hosts(&mut self, anyway: &Anyway) {
        let mut used = Used::default();
        for (_, run) in self.compiled {
            match run {
                Some(run) => used.by(&run.config),
                None => return,
            }
        }
        let plain = serde_json::to_value(anyway.host).expect("settings are JSON");
        let queue = "what comes is answered without the host, or handed over at once";
        for (key, used, why, help) in [
            ("rx_service", used.queue, queue, "leave it out, or give a flow of messages or streams"),
            ("rx_queue", used.queue, queue, "leave it out, or give a flow of messages or streams"),
            (
                "retry_delay",
                used.retries,
                "nothing is sent that RETRY would answer",
                "leave it out, or give a flow of messages",
            ),
            (
                "stream_packets",
                used.streams,
                "no packets of type 9 are sent",
                "leave it out, or give a flow of streams",
            ),
        ] {
            if !used {
                let places = self.written(&format!("endpoint/host/{key}"), |own| *own != plain[key]);
                self.tell(places, why, help);
            }
        }
    }

    /// VoQ backpressure is on, but not for what a setting is about.
    fn idle_backpressure(&mut self) {
        let places = self.written("switch/leave_out_stopped", |own| own == true);
        let places = self.without(places, |own| own.leave_out_stopped);
        let help = "leave it out, or let ports of it send messages (GEN_EN)";
        self.tell(places, "no switch that this is about sends messages", help);
        let coarse = |run: &Variant| run.config.symbolic.is_empty();
        if self.compiled.iter().all(|(_, run)| run.as_ref().is_some_and(coarse)) {
            let places = ["voq/after_recovery", "switch/voq/after_recovery"];
            let places = places.into_iter().flat_map(|key| self.written(key, |own| own == false)).collect();
            let help = "leave it out, or give \"granularity\": \"symbol\"";
            self.tell(places, "in packet granularity no link has an error to recover from", help);
        }
    }

    /// VoQ backpressure is off in every run. Where a file says so, what it says of the mechanism waits there
    /// for the day when it is on, and of what is said elsewhere the reader is told.
    fn no_backpressure(&mut self) {
        let says = |key: &str, own: &Value| match key {
            "part" => own == false,
            "gen_en" | "xoff" | "linked" | "leave_out_stopped" => own == true,
            _ => own.as_array().is_none_or(|list| !list.is_empty()),
        };
        let mut places = Vec::new();
        for (section, keys) in [
            ("switch", &OF_DEVICES[..]),
            ("switch/voq", &OF_PORTS),
            ("endpoint", &OF_DEVICES[..1]),
            ("endpoint/voq", &OF_PORTS),
            ("faults", &["lose_voq_symbols"]),
        ] {
            places.extend(
                keys.iter().flat_map(|key| self.written(&format!("{section}/{key}"), |own| says(key, own))),
            );
        }
        // Of the mechanism itself, and of ports that overrides name.
        let both = OF_ALL.iter().chain(OF_PORTS.iter().filter(|key| !OF_ALL.contains(key)));
        places.extend(both.flat_map(|key| self.written(&format!("voq/{key}"), |own| says(key, own))));
        let help = "leave it out, or give \"voq\": {\"enabled\": true}";
        let first = self.out.len();
        let said = !self.written("voq/enabled", |_| true).is_empty();
        places.retain(|place| !said || !place.starts_with("/voq/"));
        self.tell(places, "VoQ backpressure is off", help);
        if said {
            self.out[first..].iter_mut().for_each(|item| item.severity = Severity::Warning);
        }
    }
}
