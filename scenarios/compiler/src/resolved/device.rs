//! Devices: what is known of one, complete.

use crate::presets::Preset;
use crate::spec::*;
use crate::units::Ratio;
use models::config::{Arbitration, Buffering, HostConfig, InputQueueing, ServiceTime};
use models::sim_core::Duration;

/// Settings of one device, complete.
pub(crate) struct Device {
    /// Where they stand.
    pub origin: String,
    /// What it is.
    pub preset: &'static Preset,
    /// Receive buffers of each port.
    pub input_buffers: u8,
    /// Watermarks that its neighbours apply.
    pub watermarks: [u8; 3],
    /// Staging queues of each output.
    pub staging: Staging,
    /// Where that stands.
    pub staging_origin: String,
    /// Registers of each port, as far as no override changes those of one.
    pub voq: PortVoqSpec,
    /// What only one kind of device has.
    pub kind: Kind,
}

/// What only one kind of device has.
pub(crate) enum Kind {
    Switch(Switch),
    Endpoint(Box<Endpoint>),
}

/// A switch.
#[derive(Clone)]
pub(crate) struct Switch {
    pub input: InputQueueing,
    pub buffering: Buffering,
    pub arbitration: Arbitration,
    pub slot: Option<Duration>,
    pub reads_per_input: u8,
    pub forwarding: ForwardingKind,
    pub pipeline: Duration,
    pub queue_quota: Option<u16>,
    pub leave_out_stopped: bool,
}

/// An endpoint.
pub(crate) struct Endpoint {
    pub host: Host,
    /// As a node of LINX: layers of settings over no defaults yet, because few scenarios ask.
    pub linx: Option<LinxNodeSpec>,
    /// As a node of session management, in the same way.
    pub session: Option<SessionNodeSpec>,
}

/// The software side of an endpoint.
pub(crate) struct Host {
    pub config: HostConfig,
    /// Time of protocols in a unit of time of the fabric; or why there is none.
    pub clock: Result<(u64, u64), String>,
    /// How long an answer may take, by the protocol clock.
    pub response_timeout: Period,
    /// By the protocol clock, picoseconds.
    pub retry_delay: u64,
    pub stream_packets: u32,
}

impl Device {
    /// The endpoint that it is.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match &self.kind {
            Kind::Switch(_) => None,
            Kind::Endpoint(endpoint) => Some(endpoint),
        }
    }
}

impl Switch {
    /// Of complete settings.
    pub fn new(s: &SwitchSpec) -> Self {
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
                BufferingKind::Shared => Buffering::Shared { packets },
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
            queue_quota: s.queue_quota,
            leave_out_stopped: *filled(&s.leave_out_stopped),
        }
    }
}

impl Host {
    /// Of complete settings.
    pub fn new(host: &HostSpec) -> Self {
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
