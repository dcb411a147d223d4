//! Fills in every default. The result is again a scenario, and it says the same thing without any default.
//!
//! Generators stay generators: what they build is a function of their numbers alone. Traces move into the
//! file.

use crate::diagnostic::Diagnostic;
use crate::effect::Anyway;
use crate::flow;
use crate::presets;
use crate::source::ReadFile;
use crate::spec::*;
use models::config::Medium;
use std::sync::LazyLock;

fn text<T: for<'a> From<&'a str>>(s: &str) -> Option<T> {
    Some(s.into())
}

fn run_defaults() -> RunSpec {
    RunSpec {
        until: text("1 ms"),
        warmup: text("auto"),
        sample_every: text("auto"),
        stall_after: text("auto"),
        on_stall: Some(OnStall::Report),
        cut_short: Some(false),
    }
}

/// What a link has unless it is told otherwise.
pub(crate) fn link_defaults(medium: Option<Medium>) -> LinkSpec {
    let rapidio = LinkSpec {
        medium: Some(MediumKind::RapidIo),
        rate: text("6.25 Gbaud"),
        width: text("4x"),
        symbol: Some(SymbolKind::Auto),
        length: text("2 m"),
        phy_latency: text("30 ns"),
        flow_control: Some(FlowControlKind::Transmitter),
        ..LinkSpec::default()
    };
    crate::medium::defaults(medium, rapidio)
}

fn port_defaults() -> PortVoqSpec {
    PortVoqSpec { part: Some(true), xoff: Some(false), ..PortVoqSpec::default() }
}

fn switch_defaults() -> SwitchSpec {
    SwitchSpec {
        device: text("generic"),
        input: Some(InputKind::Voq),
        buffering: Some(BufferingKind::Direct),
        buffer_packets: Some(16),
        arbitration: Some(ArbitrationKind::RoundRobin),
        iterations: Some(2),
        slot: text("off"),
        reads_per_input: Some(1),
        forwarding: Some(ForwardingKind::StoreAndForward),
        pipeline: text("100 ns"),
        input_buffers: Some(16),
        watermarks: Some([4, 3, 2]),
        staging: None,
        queue_quota: None,
        leave_out_stopped: Some(false),
        voq: Some(port_defaults()),
    }
}

fn endpoint_defaults() -> EndpointSpec {
    EndpointSpec {
        device: text("generic"),
        input_buffers: Some(16),
        watermarks: Some([4, 3, 2]),
        staging: None,
        host: None,
        linx: None,
        session: None,
        voq: Some(port_defaults()),
    }
}

/// What a host does unless it is told otherwise. Written out only where flows use it.
pub(crate) fn host_defaults() -> &'static HostSpec {
    static DEFAULTS: LazyLock<HostSpec> = LazyLock::new(|| HostSpec {
        rx_service: Some(ServiceSpec::Fixed("0 ps".into())),
        tx_service: Some(ServiceSpec::Fixed("0 ps".into())),
        rx_queue: Some(1024),
        protocol_clock: Some(Share::one()),
        response_timeout: text("auto"),
        retry_delay: text("0 ps"),
        stream_packets: Some(1),
    });
    &DEFAULTS
}

fn voq_defaults() -> VoqSpec {
    VoqSpec {
        enabled: Some(false),
        staging: Some(Staging::PerPort),
        thresholds: Some(Thresholds { on: 8, off: 4 }),
        verdict: Some(VerdictKind::PerIngress),
        refresh: text("default"),
        generation_delay: text("20 ns"),
        after_recovery: Some(true),
        obey_latency: text("0 ps"),
        linked: Some(false),
        writes: Some(Vec::new()),
    }
}

/// A scenario in which every setting with a fixed default is written out.
pub fn expand(spec: &Spec, read: ReadFile<'_>, out: &mut Vec<Diagnostic>) -> Spec {
    let mut full = spec.clone();
    full.seed.get_or_insert(1);
    full.shake.get_or_insert(0);
    full.run = Some(spec.run.clone().unwrap_or_default().over(&run_defaults()));
    let links = spec.links.clone().unwrap_or_default();
    let mut links = links.over(&link_defaults(crate::medium::named(links.medium)));
    if let Some(channels) = &mut links.vcs {
        channels.fill();
    }
    full.links = Some(links);
    full.switch = Some(with_switch_preset(&spec.switch.clone().unwrap_or_default(), &switch_defaults()));
    full.endpoint =
        Some(with_endpoint_preset(&spec.endpoint.clone().unwrap_or_default(), &endpoint_defaults()));
    if let Some(endpoint) = &mut full.endpoint
        && (endpoint.host.is_some()
            || spec.traffic.iter().any(flow::is_protocol)
            || crate::configure::setup(spec).is_some())
    {
        endpoint.host = Some(endpoint.host.clone().unwrap_or_default().over(host_defaults()));
    }
    if let Some(endpoint) = &mut full.endpoint {
        for kind in flow::KINDS {
            kind.expand_endpoint(endpoint, spec.traffic.iter().any(|flow| kind.named(flow) > 0));
            kind.expand_overrides(endpoint, full.overrides.get_or_insert_default());
        }
    }
    full.voq = Some(spec.voq.clone().unwrap_or_default().over(&voq_defaults()));
    full.routing = Some(spec.routing.clone().unwrap_or_default().over(&RoutingSpec {
        method: Some(RoutingMethod::Auto),
        allow_deadlock: Some(false),
        ..RoutingSpec::default()
    }));
    full.topology.fill();
    full.overrides.get_or_insert_default();
    full.multicast.get_or_insert_default();
    if let Some(translators) = &mut full.translators {
        crate::translators::expand(translators);
    }
    expand_faults(full.faults.get_or_insert_default());
    full.declare.get_or_insert_default();
    crate::configure::expand(&mut full);
    for (i, flow) in full.traffic.iter_mut().enumerate() {
        expand_flow(flow, i, read, out);
    }
    full
}

fn expand_faults(faults: &mut FaultSpec) {
    faults.lose_voq_symbols.get_or_insert_default();
    for errors in faults.bit_errors.iter_mut().flatten() {
        errors.burst.get_or_insert(1);
    }
    for outage in faults.outages.iter_mut().flatten() {
        outage.times.get_or_insert(1);
    }
    for loss in faults.lane_losses.iter_mut().flatten() {
        loss.width.get_or_insert_with(|| "1x".into());
    }
}

/// What is so in a file whether it says it or not.
pub(crate) fn unasked(spec: &Spec) -> Anyway {
    let own = spec.switch.clone().unwrap_or_default();
    let bare = SwitchSpec { iterations: None, buffer_packets: None, ..own };
    Anyway {
        switch: with_switch_preset(&bare, &switch_defaults()),
        host: host_defaults(),
        runs_on_hosts: flow::is_protocol,
        program_of: flow::program_of,
    }
}

/// User settings over what their preset says over `lower`.
pub fn with_switch_preset(user: &SwitchSpec, lower: &SwitchSpec) -> SwitchSpec {
    // A name that nobody knows is reported where it stands.
    let preset = user.device.as_ref().or(lower.device.as_ref()).and_then(|name| presets::switch(name));
    preset.map_or_else(|| user.clone(), |preset| user.over(&preset.switch_settings())).over(lower)
}

/// User settings over what their preset says over `lower`.
pub fn with_endpoint_preset(user: &EndpointSpec, lower: &EndpointSpec) -> EndpointSpec {
    // A name that nobody knows is reported where it stands.
    let preset = user.device.as_ref().or(lower.device.as_ref()).and_then(|name| presets::endpoint(name));
    preset.map_or_else(|| user.clone(), |preset| user.over(&preset.endpoint_settings())).over(lower)
}

fn expand_flow(flow: &mut FlowSpec, index: usize, read: ReadFile<'_>, out: &mut Vec<Diagnostic>) {
    flow::kind(flow).expand(flow);
    flow::expand_program(flow, index, read, out);
    if flow::is_protocol(flow) || !matches!(flow.arrivals, Some(ArrivalSpec::Trace(_))) {
        flow.priority.get_or_insert(0);
    }
    if flow.st.is_none() && flow.initialise.is_none() && flow::program_of(flow).is_none() {
        flow.start.get_or_insert_with(|| "0 ps".into());
    }
    match &mut flow.to {
        Some(To::Pattern(ToPattern::Hotspot(hotspot))) => {
            hotspot.hot_flow.get_or_insert(flow::default_hot_flow(&flow.name));
        }
        Some(To::Pattern(ToPattern::Uniform(uniform))) => {
            uniform.include_self.get_or_insert(false);
        }
        _ => {}
    }
    match &mut flow.arrivals {
        Some(ArrivalSpec::Constant(spec)) => {
            spec.phase.get_or_insert_with(|| "random".into());
        }
        Some(ArrivalSpec::Saturated(spec)) => {
            spec.backlog.get_or_insert(4);
        }
        Some(ArrivalSpec::Trace(trace)) => {
            if let Some(file) = trace.file.take() {
                match read(&file) {
                    Ok(text) => {
                        let lines = text.lines().map(str::trim);
                        let rows = lines.filter(|line| !line.is_empty() && !line.starts_with("time_ps"));
                        trace.rows.get_or_insert_default().extend(rows.map(str::to_owned));
                    }
                    Err(why) => {
                        let pointer = format!("/traffic/{index}/arrivals/trace/file");
                        let message = format!("\"{file}\" cannot be read: {why}");
                        out.push(Diagnostic::error("SC044", pointer, message));
                    }
                }
            }
        }
        _ => {}
    }
}
